import { h } from '../dom.js';
import { icon, type IconName } from './icons.js';

const SHOWN_MS = 5_000;
const region = h('div', { class: 'toasts', role: 'status', 'aria-live': 'polite' });

/** Where toasts are shown; stands in the page once. */
export const toasts: HTMLElement = region;

/** Says something for a few seconds. */
export function toast(text: string): void {
  const note = h('p', { class: 'toast' }, text);
  region.replaceChildren(note);
  setTimeout(() => {
    note.remove();
  }, SHOWN_MS);
}

/** A place without content: what it means and what can be done. */
export function notice(options: {
  readonly icon: IconName;
  readonly title: string;
  readonly text?: string;
  readonly actions?: readonly HTMLElement[];
  readonly isAlert?: boolean;
}): HTMLElement {
  return h(
    'div',
    { class: 'notice', role: options.isAlert === true ? 'alert' : undefined },
    icon(options.icon),
    h('h2', {}, options.title),
    options.text !== undefined && h('p', {}, options.text),
    options.actions !== undefined && h('div', { class: 'actions' }, options.actions),
  );
}

/**
 * Asks before something that cannot be undone.
 *
 * @returns whether the person agreed; Escape is a no
 */
export function confirmed(question: string, text: string, yes: string): Promise<boolean> {
  return new Promise((resolve) => {
    const dialog = h(
      'dialog',
      { 'aria-labelledby': 'question', 'aria-describedby': 'question-text' },
      h(
        'form',
        { method: 'dialog' },
        h('h2', { id: 'question' }, question),
        h('p', { id: 'question-text' }, text),
        h(
          'div',
          { class: 'actions' },
          h('button', { class: 'button quiet', value: 'no' }, 'Keep it'),
          h('button', { class: 'button danger', value: 'yes' }, yes),
        ),
      ),
    );
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'yes');
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
