import { create } from 'zustand';
import { Button } from '../components/button';

const SHOWN_MS = 5_000;
/** A person needs time to notice a mistake. */
const SHOWN_WITH_ACTION_MS = 10_000;

interface Toast {
  text: string;
  action?: { label: string; run: () => void } | undefined;
}

const NONE: Toast = { text: '', action: undefined };
const useToast = create(() => NONE);
let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows a message for a few seconds, optionally with a button. */
export function showToast(text: string, action?: Toast['action']) {
  clearTimeout(timer);
  // `setState` merges. An undefined action removes the button of the previous message.
  useToast.setState({ text, action });
  timer = setTimeout(() => useToast.setState(NONE), action ? SHOWN_WITH_ACTION_MS : SHOWN_MS);
}

export function ToastRegion() {
  const { text, action } = useToast();
  const run = () => {
    useToast.setState(NONE);
    action?.run();
  };
  return (
    <div className="toasts" role="status" aria-live="polite">
      {text && (
        <div className="toast">
          {text}
          {action && (
            <Button className="link" onClick={run}>
              {action.label}
            </Button>
          )}
        </div>
      )}
    </div>
  );
}
