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

interface Toasts {
  /** Messages at the bottom of the page, oldest first. */
  toasts: Toast[];
  /** Id of the message whose button has the focus. */
  focusedId?: number | undefined;
}

export const useToasts = create<Toasts>(() => ({ toasts: [] }));

/** Shows a message for a few seconds, optionally with a button, below the earlier messages. */
export function showToast(text: string, action?: Toast['action']) {
  lastId += 1;
  const toast = { id: lastId, text, action };
  useToasts.setState(({ toasts, focusedId }) => {
    // Without its button, the page would lose the focus.
    const oldest = toasts.find(({ id }) => id !== focusedId);
    const kept = toasts.length < MAX_TOASTS ? toasts : toasts.filter((each) => each !== oldest);
    return { toasts: [...kept, toast] };
  });
}

export function hideToast(id: number) {
  useToasts.setState(({ toasts }) => ({ toasts: toasts.filter((toast) => toast.id !== id) }));
}
