import { useLayoutEffect } from 'react';
import { NavigationType, useLocation, useNavigationType } from 'react-router';

/** Scroll positions by the key of the entry in the browser's history. */
const positions = new Map<string, number>();

/** Scrolls to the top of a new page, or to where the person was on a page they come back to. */
export function useScrollPosition() {
  const { key } = useLocation();
  const navigation = useNavigationType();
  useLayoutEffect(() => {
    history.scrollRestoration = 'manual';
    window.scrollTo(0, navigation === NavigationType.Pop ? (positions.get(key) ?? 0) : 0);
    const remember = () => positions.set(key, window.scrollY);
    window.addEventListener('scroll', remember, { passive: true });
    return () => window.removeEventListener('scroll', remember);
  }, [key, navigation]);
}
