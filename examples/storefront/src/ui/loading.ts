import { explain } from '../api.js';
import { type Child, fill, h } from '../dom.js';
import { notice } from './messages.js';

interface Loading<T> {
  /** Shown until the answer is there, in about its size. */
  readonly skeleton: Child;
  readonly ask: () => Promise<T>;
  readonly draw: (answer: T) => Child;
  /** Another drawing of a failure than message and retry; undefined for the usual one. */
  readonly drawFailure?: (error: unknown) => Child | undefined;
  readonly signal: AbortSignal;
}

/** Fills a place with an answer: skeleton, then the drawing, or what failed with a way to try again. */
export function load<T>(place: HTMLElement, loading: Loading<T>): void {
  const { signal } = loading;
  place.setAttribute('aria-busy', 'true');
  fill(place, loading.skeleton);
  loading.ask().then(
    (answer) => {
      if (signal.aborted) return;
      place.removeAttribute('aria-busy');
      fill(place, loading.draw(answer));
    },
    (error: unknown) => {
      if (signal.aborted) return;
      place.removeAttribute('aria-busy');
      const retry = (): void => {
        load(place, loading);
      };
      fill(place, loading.drawFailure?.(error) ?? failure(error, retry, signal));
    },
  );
}

/** What failed, with a button to try again. Tries by itself when the browser is online again. */
export function failure(error: unknown, retry: () => void, signal: AbortSignal): HTMLElement {
  const done = new AbortController();
  const again = (): void => {
    if (done.signal.aborted || signal.aborted) return;
    done.abort();
    retry();
  };
  window.addEventListener('online', again, { once: true, signal: AbortSignal.any([done.signal, signal]) });
  return notice({
    icon: 'offline',
    title: 'That did not work',
    text: explain(error),
    isAlert: true,
    actions: [h('button', { class: 'button', type: 'button', on: { click: again } }, 'Try again')],
  });
}

/** Grey bars in place of lines of text. */
export function bars(lines: number): HTMLElement {
  return h(
    'div',
    { class: 'skeleton bars', 'aria-hidden': 'true' },
    Array.from({ length: lines }, () => h('span')),
  );
}
