import { useEffect, useLayoutEffect, useRef } from 'react';
import { NavigationType, useLocation, useNavigationType } from 'react-router';

/** Scroll positions by the key of the entry in the browser's history. */
const positions = new Map<string, number>();
let hasChanged = false;

/** Scrolls to the top of a new page, or to where the person was on a page they come back to, and moves the focus. */
export function usePageChange() {
  const { key, pathname } = useLocation();
  const navigation = useNavigationType();
  const shown = useRef(pathname);

  useLayoutEffect(() => {
    history.scrollRestoration = 'manual';
    window.scrollTo(0, navigation === NavigationType.Pop ? (positions.get(key) ?? 0) : 0);
    const remember = () => positions.set(key, window.scrollY);
    window.addEventListener('scroll', remember, { passive: true });
    return () => window.removeEventListener('scroll', remember);
  }, [key, navigation]);

  useEffect(() => {
    if (shown.current === pathname) return;
    shown.current = pathname;
    hasChanged = true;
    // A form's first field may have the focus already.
    if (document.querySelector('main')?.contains(document.activeElement) === true) return;
    document.querySelector('h1')?.focus({ preventScroll: true });
  }, [pathname]);
}

/**
 * Whether a heading that appears is to take the focus, because it replaces one that had it. Not on the first page,
 * which the browser itself reads.
 */
export function isFocusLost() {
  return hasChanged && (document.activeElement === null || document.activeElement === document.body);
}
