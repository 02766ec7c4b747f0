import { useEffect } from 'react';
import { useFormContext } from 'react-hook-form';
import { t } from '../../i18n';

/**
 * Asks before the person leaves a form with unsaved changes, by a link, by signing out or by closing the tab. React Router's
 * own `useBlocker` needs a data router, which this storefront does not use. The browser's back button does not ask.
 */
export function LeaveQuestion() {
  const { isDirty } = useFormContext().formState;
  useEffect(() => {
    if (!isDirty) return;
    const onUnload = (event: BeforeUnloadEvent) => event.preventDefault();
    const onClick = (event: MouseEvent) => {
      if (!leavesPage(event) || window.confirm(t('leave.question'))) return;
      event.preventDefault();
      event.stopPropagation();
    };
    window.addEventListener('beforeunload', onUnload);
    document.addEventListener('click', onClick, true);
    return () => {
      window.removeEventListener('beforeunload', onUnload);
      document.removeEventListener('click', onClick, true);
    };
  }, [isDirty]);
  return null;
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
