import { type Child, h } from '../dom.js';
import { failure } from './loading.js';

export interface Page<T> {
  readonly items: readonly T[];
  /** Where the next page begins. */
  readonly last: string | number;
}

/** What a list has loaded, to be shown again when the person comes back to it. */
export interface Loaded<T> {
  items: T[];
  last: string | number | null;
  isEnded: boolean;
}

interface EndlessList<T> {
  readonly label: string;
  readonly className: string;
  /** @param last where the page begins, null for the first one; resolves to null after the last one */
  readonly ask: (last: string | number | null) => Promise<Page<T> | null>;
  readonly drawItem: (item: T) => HTMLElement;
  readonly skeleton: () => HTMLElement;
  readonly empty: () => HTMLElement;
  readonly drawEnd: (count: number) => Child;
  readonly loaded?: Loaded<T>;
  readonly signal: AbortSignal;
}

const SKELETONS = 8;

/** A list that loads its next page when its end comes near, down to the documented end. */
export function endlessList<T>(list: EndlessList<T>): HTMLElement {
  const { signal, loaded = { items: [], last: null, isEnded: false } } = list;
  const items = h('ul', { class: list.className, 'aria-label': list.label });
  // Whoever goes through the page by keyboard gets to the next page by this button.
  const more = h(
    'button',
    { class: 'button quiet', type: 'button', on: { click: () => void next() } },
    'Show more',
  );
  const foot = h('div', { class: 'list-foot' });
  const place = h('div', {}, items, foot);
  let isLoading = false;
  const isLeft = (): boolean => signal.aborted;

  const watcher = new IntersectionObserver(
    (entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) void next();
    },
    { rootMargin: '800px' },
  );
  signal.addEventListener('abort', () => {
    watcher.disconnect();
  });

  const append = (added: readonly T[]): void => {
    items.append(...added.map((item) => h('li', {}, list.drawItem(item))));
  };
  const drawFoot = (): void => {
    if (!loaded.isEnded) foot.replaceChildren(more);
    else if (loaded.items.length === 0) place.replaceChildren(list.empty());
    else foot.replaceChildren(h('p', { class: 'end' }, list.drawEnd(loaded.items.length) as string));
    // Observed anew, it tells again where it is: the page may have been too short to push it away.
    watcher.disconnect();
    if (!loaded.isEnded) watcher.observe(foot);
  };
  const next = async (): Promise<void> => {
    if (isLoading || loaded.isEnded || isLeft()) return;
    isLoading = true;
    const hadFocus = document.activeElement === more;
    place.setAttribute('aria-busy', 'true');
    const skeletons = Array.from({ length: loaded.items.length === 0 ? SKELETONS : 3 }, () =>
      h('li', { 'aria-hidden': 'true' }, list.skeleton()),
    );
    foot.replaceChildren();
    items.append(...skeletons);
    try {
      const page = await list.ask(loaded.last);
      if (isLeft()) return;
      const first = items.children.length - skeletons.length;
      for (const skeleton of skeletons) skeleton.remove();
      if (page === null) loaded.isEnded = true;
      else {
        loaded.items.push(...page.items);
        loaded.last = page.last;
        append(page.items);
      }
      isLoading = false;
      drawFoot();
      if (hadFocus) items.children[first]?.querySelector<HTMLElement>('a, button')?.focus();
    } catch (error) {
      if (isLeft()) return;
      for (const skeleton of skeletons) skeleton.remove();
      isLoading = false;
      watcher.disconnect();
      foot.replaceChildren(failure(error, () => void next(), signal));
    } finally {
      place.removeAttribute('aria-busy');
    }
  };

  append(loaded.items);
  if (loaded.items.length > 0) drawFoot();
  else void next();
  return place;
}
