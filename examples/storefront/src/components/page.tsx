import { type ReactNode, useEffect, useLayoutEffect, useRef } from 'react';
import { Link, NavigationType, useLocation, useNavigationType } from 'react-router';
import { useShopName } from '../api/shop';
import { t } from '../i18n';

// Path of the page that the browser has loaded, null after a navigation. The heading of this page does not take the focus,
// because the browser announces the page.
let loadedPath: string | null = location.pathname;

interface PageHeadingProps {
  children: string;
  /** Shows the heading only to screen readers. */
  isVisuallyHidden?: boolean;
}

/**
 * Heading of a page, and title of the tab. After a navigation, the heading takes the focus, and the page scrolls to the
 * top. After a step back or forward, the browser restores the scroll position instead.
 */
export function PageHeading({ children, isVisuallyHidden = false }: PageHeadingProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const shopName = useShopName();
  const description = t('description', { name: shopName });
  const { pathname } = useLocation();
  const navigation = useNavigationType();
  useEffect(() => {
    document.title = `${children} · ${shopName}`;
    document.querySelector('meta[name=description]')?.setAttribute('content', description);
  }, [children, shopName, description]);
  useLayoutEffect(() => {
    if (pathname === loadedPath) return;
    loadedPath = null;
    if (navigation !== NavigationType.Pop) window.scrollTo(0, 0);
    // The first field of a form may already have the focus.
    const isFocusInPage = document.querySelector('main')?.contains(document.activeElement) === true;
    if (!isFocusInPage) heading.current?.focus({ preventScroll: true });
  }, [pathname, navigation]);
  return (
    <h1 ref={heading} tabIndex={-1} className={isVisuallyHidden ? 'visually-hidden' : undefined}>
      {children}
    </h1>
  );
}

/** Moves the focus to the page's heading. Call it after an action that removes the focused button. */
export function focusHeading() {
  document.querySelector('h1')?.focus({ preventScroll: true });
}

export function FormPage({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="page form-page">
      <section className="panel">
        <PageHeading>{title}</PageHeading>
        {children}
      </section>
    </div>
  );
}

/** State of the history entry of a page with a `BackLink`. `from` is the path and query of the linking page. */
interface BackLinkState {
  from?: string;
}

/** Returns the state for a link from the current page to a page with a `BackLink`. */
export function useBackLinkState(): BackLinkState {
  const { pathname, search } = useLocation();
  return { from: pathname + search };
}

interface BackLinkProps {
  /** Path of the list without search and filters, used if the person did not come from the list. */
  to: string;
  children: ReactNode;
}

/** Link back to a list, with the search and the filters that it had. */
export function BackLink({ to, children }: BackLinkProps) {
  const { from = to } = (useLocation().state ?? {}) as BackLinkState;
  return (
    <Link className="back" to={from}>
      ← {children}
    </Link>
  );
}
