import { create } from 'zustand';

const SHOWN_MS = 5_000;

const useToast = create(() => ({ text: '' }));
let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows a message for a few seconds. */
export function toast(text: string) {
  clearTimeout(timer);
  useToast.setState({ text });
  timer = setTimeout(() => useToast.setState({ text: '' }), SHOWN_MS);
}

export function Toasts() {
  const { text } = useToast();
  return (
    <div className="toasts" role="status" aria-live="polite">
      {text && <p className="toast">{text}</p>}
    </div>
  );
}
