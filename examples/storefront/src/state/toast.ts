import { create } from 'zustand';

export interface Toast {
  id: number;
  text: string;
  /** Button beside the text. */
  action: { label: string; run: () => void } | undefined;
}

/** More messages would cover the page. */
const MAX_TOASTS = 3;
let lastId = 0;

/** Messages at the bottom of the page, oldest first. */
export const useToasts = create<{ toasts: Toast[] }>(() => ({ toasts: [] }));

/** Shows a message for a few seconds, optionally with a button, below the earlier messages. */
export function showToast(text: string, action?: Toast['action']) {
  lastId += 1;
  const toast = { id: lastId, text, action };
  useToasts.setState(({ toasts }) => ({ toasts: [...toasts, toast].slice(-MAX_TOASTS) }));
}

export function hideToast(id: number) {
  useToasts.setState(({ toasts }) => ({ toasts: toasts.filter((toast) => toast.id !== id) }));
}
