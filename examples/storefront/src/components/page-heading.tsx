import { type RefObject, useEffect, useEffectEvent, useLayoutEffect, useRef } from 'react';
import { NavigationType, useLocation, useNavigationType } from 'react-router';
import { useShopName } from '../api/shop';

/**
 * Path of the page that the browser has loaded, null after the first navigation. The heading of this page does not take the
 * focus, because the browser itself announces the page.
 */
let loadedPath: string | null = location.pathname;

interface PageHeadingProps {
  children: string;
  /** Shows the heading only to screen readers. */
  isVisuallyHidden?: boolean;
}

/** Heading of a page, which is also the title of the tab. Takes the focus after a navigation. */
export function PageHeading({ children, isVisuallyHidden = false }: PageHeadingProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const shopName = useShopName();
  useEffect(() => {
    document.title = `${children} · ${shopName}`;
  }, [children, shopName]);
  useFocusAfterNavigation(heading);
  return (
    <h1 ref={heading} tabIndex={-1} className={isVisuallyHidden ? 'visually-hidden' : undefined}>
      {children}
    </h1>
  );
}

/**
 * Moves the focus to the heading after a navigation, and scrolls to the top. After a step back or forward, the browser
 * restores the scroll position instead.
 */
function useFocusAfterNavigation(heading: RefObject<HTMLHeadingElement | null>) {
  const { pathname } = useLocation();
  const navigation = useNavigationType();
  const beginPage = useEffectEvent(() => {
    if (pathname === loadedPath) return;
    loadedPath = null;
    if (navigation !== NavigationType.Pop) window.scrollTo(0, 0);
    // The first field of a form may already have the focus.
    const isFocusInPage = document.querySelector('main :focus') !== null;
    if (!isFocusInPage) heading.current?.focus({ preventScroll: true });
  });
  // Only for a new path: a filter changes the query, and must not scroll.
  useLayoutEffect(() => beginPage(), [pathname]);
}

/** Moves the focus to the page's heading. Call it after an action that removes the focused button. */
export function focusHeading() {
  document.querySelector('h1')?.focus({ preventScroll: true });
}
