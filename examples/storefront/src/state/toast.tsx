import { useEffect } from 'react';
import { create } from 'zustand';

const SHOWN_MS = 5_000;

const useToast = create<{ message: { text: string } | null }>(() => ({ message: null }));

/** Shows a message for a few seconds. */
export function toast(text: string) {
  useToast.setState({ message: { text } });
}

/** Where messages are shown. */
export function Toasts() {
  const { message } = useToast();
  useEffect(() => {
    const timer = setTimeout(() => useToast.setState({ message: null }), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [message]);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {message && <p className="toast">{message.text}</p>}
    </div>
  );
}
