import { session } from './session.js';

/** What a page is given to draw itself. */
export interface Visit {
  /** Parts of the path, by name. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Aborts when the person leaves the page. */
  readonly signal: AbortSignal;
  /** Whether the person came by the browser's back or forward. */
  readonly isReturn: boolean;
}

export interface Route {
  /** `/products/:id` */
  readonly path: string;
  readonly title: string;
  /** Who may see it; others are asked to sign in, sent on, or shown that there is nothing. */
  readonly access: 'anyone' | 'guest' | 'user' | 'admin';
  readonly draw: (visit: Visit) => HTMLElement;
}

interface RouterOptions {
  readonly routes: readonly Route[];
  readonly lost: Route;
  readonly outlet: HTMLElement;
  readonly shopName: string;
  /** Called after each change of page. */
  readonly moved: () => void;
}

const MOVE = 'bakery:move';

/** Goes to another page of the storefront. */
export function go(path: string, how: 'push' | 'replace' = 'push'): void {
  rememberScroll();
  if (how === 'push') history.pushState(null, '', path);
  else history.replaceState(null, '', path);
  window.dispatchEvent(new CustomEvent(MOVE));
}

/** A path within the storefront to go on to after signing in, never another site. */
export function nextPath(query: URLSearchParams): string {
  const next = query.get('next') ?? '/';
  const url = URL.parse(next, location.origin);
  const isOwn = url?.origin === location.origin && !/^\/(login|register)\b/.test(url.pathname);
  return isOwn ? url.pathname + url.search : '/';
}

export function startRouter(options: RouterOptions): void {
  let leaving = new AbortController();
  let isFirst = true;

  const show = (isReturn: boolean): void => {
    leaving.abort();
    leaving = new AbortController();
    const { route, params } = permitted(options);
    const query = new URLSearchParams(location.search);
    const page = route.draw({ params, query, signal: leaving.signal, isReturn });
    options.outlet.replaceChildren(page);
    document.title = `${route.title} · ${options.shopName}`;
    options.moved();
    window.scrollTo(0, isReturn ? rememberedScroll() : 0);
    // At first the browser reads the page itself.
    if (!isFirst) focusStart(page);
    isFirst = false;
  };

  history.scrollRestoration = 'manual';
  window.addEventListener('popstate', () => {
    show(true);
  });
  window.addEventListener(MOVE, () => {
    show(false);
  });
  window.addEventListener('pagehide', rememberScroll);
  document.addEventListener('click', follow);
  // Whoever is signed in decides what a page is.
  let who = identity();
  session.watch(() => {
    if (who === identity()) return;
    who = identity();
    show(false);
  });
  show(
    performance.getEntriesByType('navigation').some((entry) => 'type' in entry && entry.type === 'reload'),
  );
}

function identity(): string {
  const person = session.get();
  return person === null ? '' : `${person.id} ${person.role}`;
}

function permitted(options: RouterOptions): { route: Route; params: Record<string, string> } {
  for (const route of options.routes) {
    const params = match(route.path, location.pathname);
    if (params === null) continue;
    const person = session.get();
    if (route.access === 'admin' && person !== null && person.role !== 'ADMIN') break;
    const isGuest = route.access === 'guest';
    if (route.access === 'anyone' || isGuest === (person === null)) return { route, params };
    const here = location.pathname + location.search;
    const elsewhere = isGuest
      ? nextPath(new URLSearchParams(location.search))
      : `/login?next=${encodeURIComponent(here)}`;
    history.replaceState(null, '', elsewhere);
    return permitted(options);
  }
  return { route: options.lost, params: {} };
}

function match(pattern: string, path: string): Record<string, string> | null {
  const wanted = pattern.split('/');
  const given = path.replace(/(.)\/$/, '$1').split('/');
  if (wanted.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? '';
    if (part.startsWith(':')) params[part.slice(1)] = value;
    else if (part !== value) return null;
  }
  return params;
}

/** Links within the storefront change the page without loading it. */
function follow(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (link?.target !== '' || link.origin !== location.origin) return;
  if (link.hash !== '' && link.pathname === location.pathname) return;
  event.preventDefault();
  go(link.pathname + link.search);
}

function rememberScroll(): void {
  history.replaceState({ scroll: window.scrollY }, '');
}

function rememberedScroll(): number {
  const state: unknown = history.state;
  return typeof state === 'object' && state !== null && 'scroll' in state ? Number(state.scroll) : 0;
}

/** The field to fill in first, or the heading: so a person who cannot see the change hears it. */
function focusStart(page: HTMLElement): void {
  const start = page.querySelector<HTMLElement>('[autofocus]') ?? page.querySelector('h1');
  if (start instanceof HTMLHeadingElement) start.setAttribute('tabindex', '-1');
  start?.focus({ preventScroll: true });
}
