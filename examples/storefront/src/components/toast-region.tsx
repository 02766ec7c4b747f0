import { useEffect } from 'react';
import { hideToast, type Toast, useToasts } from '../state/toast';
import { Button } from './button';
import { focusHeading } from './page-heading';

const SHOWN_MS = 5_000;
/** Longer, because a person needs time to notice a mistake and undo it. */
const SHOWN_WITH_ACTION_MS = 10_000;

export function ToastRegion() {
  const { toasts } = useToasts();
  return (
    <div className="toasts" role="status" aria-live="polite" aria-atomic="false">
      {toasts.map((toast) => (
        <ToastMessage key={toast.id} toast={toast} />
      ))}
    </div>
  );
}

function ToastMessage({ toast: { id, text, action } }: { toast: Toast }) {
  const hasFocus = useToasts(({ focusedId }) => focusedId === id);
  useEffect(() => {
    if (hasFocus) return;
    const timer = setTimeout(() => hideToast(id), action ? SHOWN_WITH_ACTION_MS : SHOWN_MS);
    return () => clearTimeout(timer);
  }, [id, action, hasFocus]);
  const runAction = () => {
    hideToast(id);
    // The focused button disappears.
    focusHeading();
    action?.run();
  };
  return (
    <div
      className="toast"
      onFocus={() => useToasts.setState({ focusedId: id })}
      onBlur={() => useToasts.setState({ focusedId: undefined })}
    >
      {text}
      {action && (
        <Button className="link" onClick={runAction}>
          {action.label}
        </Button>
      )}
    </div>
  );
}
