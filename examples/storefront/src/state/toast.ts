import { create } from 'zustand';

interface Toast {
  text: string;
  /** Button beside the text. */
  action: { label: string; run: () => void } | undefined;
}

/** Message at the bottom of the page, null if none is shown. */
export const useToast = create<{ toast: Toast | null }>(() => ({ toast: null }));

/** Shows a message for a few seconds, optionally with a button. Replaces an earlier message. */
export function showToast(text: string, action?: Toast['action']) {
  useToast.setState({ toast: { text, action } });
}

export function hideToast() {
  useToast.setState({ toast: null });
}
