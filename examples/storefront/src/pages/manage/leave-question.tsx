import { useEffect } from 'react';
import { useFormContext } from 'react-hook-form';
import { t } from '../../i18n';
import { guardHistory } from '../../routing/history-guard';

/**
 * Asks before the person leaves a form with unsaved changes, by a link, by the browser's back button, by signing out or by closing
 * the tab. React Router's own `useBlocker` needs a data router, which this storefront does not use.
 */
export function LeaveQuestion() {
  const { isDirty } = useFormContext().formState;
  useEffect(() => {
    if (!isDirty) return;
    const { pathname } = location;
    const position = readPosition(history.state);
    const mayLeave = () => window.confirm(t('leave.question'));
    const onUnload = (event: BeforeUnloadEvent) => event.preventDefault();
    const onClick = (event: MouseEvent) => {
      if (!leavesPage(event) || mayLeave()) return;
      event.preventDefault();
      event.stopPropagation();
    };
    const onPopState = (event: PopStateEvent) => {
      if (location.pathname === pathname || mayLeave()) return;
      // Hide the step from React Router, which still shows this page, and take the step back.
      event.stopImmediatePropagation();
      const reached = readPosition(event.state);
      // An entry of a link within the page has no position. The back button leads to the entry before it.
      history.go(position === undefined || reached === undefined ? 1 : position - reached);
    };
    window.addEventListener('beforeunload', onUnload);
    document.addEventListener('click', onClick, true);
    const removeGuard = guardHistory(onPopState);
    return () => {
      window.removeEventListener('beforeunload', onUnload);
      document.removeEventListener('click', onClick, true);
      removeGuard();
    };
  }, [isDirty]);
  return null;
}

/** Returns the position in the history that React Router stores with each of its entries. */
function readPosition(state: unknown): number | undefined {
  return (state as { idx?: number } | null)?.idx;
}

/**
 * Returns true for a click that leaves the page for another page of the storefront, or signs out. The browser itself asks before
 * a click that leaves the storefront.
 */
function leavesPage({ target, ctrlKey, metaKey, shiftKey }: MouseEvent): boolean {
  if (!(target instanceof Element)) return false;
  if (target.closest('[data-leaves-page]')) return true;
  const link = target.closest('a');
  if (link === null || link.target === '_blank' || ctrlKey || metaKey || shiftKey) return false;
  return link.origin === location.origin && (link.pathname !== location.pathname || link.hash === '');
}
