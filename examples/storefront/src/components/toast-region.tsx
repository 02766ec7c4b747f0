import { useEffect } from 'react';
import { hideToast, useToast } from '../state/toast';
import { Button } from './button';

const SHOWN_MS = 5_000;
/** A person needs time to notice a mistake. */
const SHOWN_WITH_ACTION_MS = 10_000;

export function ToastRegion() {
  const { toast } = useToast();
  useEffect(() => {
    if (toast === null) return;
    const timer = setTimeout(hideToast, toast.action ? SHOWN_WITH_ACTION_MS : SHOWN_MS);
    return () => clearTimeout(timer);
  }, [toast]);
  const runAction = () => {
    hideToast();
    toast?.action?.run();
  };
  return (
    <div className="toasts" role="status" aria-live="polite">
      {toast && (
        <div className="toast">
          {toast.text}
          {toast.action && (
            <Button className="link" onClick={runAction}>
              {toast.action.label}
            </Button>
          )}
        </div>
      )}
    </div>
  );
}
