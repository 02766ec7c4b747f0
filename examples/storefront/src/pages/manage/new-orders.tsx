import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { newestPaidOrders } from '../../api/orders';
import { Button } from '../../components/button';
import { t } from '../../i18n';
import { showToast } from '../../state/toast';
import { allowSound, beep, isSoundAllowed, onSoundChange } from './sound';

/** Events after which somebody has seen the page. */
const SEEN_EVENTS = ['focus', 'visibilitychange', 'pointerdown'];

/**
 * Announces newly paid orders on every page for administrators: with a message, a sound, and a number in the tab's title
 * until somebody has seen the page. An order is new if no earlier poll contained it.
 */
export function NewOrderAlerts() {
  const { data } = useQuery(newestPaidOrders);
  const known = useRef<Set<string>>(undefined);
  const unseen = useRef(0);
  useEffect(() => {
    if (data === undefined) return;
    const before = known.current;
    known.current = new Set([...(before ?? []), ...data]);
    const arrived = before === undefined ? 0 : data.filter((id) => !before.has(id)).length;
    if (arrived === 0) return;
    unseen.current += arrived;
    showInTitle(unseen.current);
    showToast(t('manage.newOrders', { count: arrived }));
    beep();
  }, [data]);
  useEffect(() => {
    const markSeen = () => {
      unseen.current = 0;
      showInTitle(0);
    };
    const controller = new AbortController();
    for (const event of SEEN_EVENTS) window.addEventListener(event, markSeen, { signal: controller.signal });
    return () => controller.abort();
  }, []);
  if (useSyncExternalStore(onSoundChange, isSoundAllowed)) return null;
  return (
    <Button className="link" onClick={() => void allowSound()}>
      {t('sound.allow')}
    </Button>
  );
}

/** Shows a number before the title of the tab, or no number if it is 0. */
function showInTitle(count: number) {
  const title = document.title.replace(/^\(\d+\) /, '');
  document.title = count === 0 ? title : `(${count}) ${title}`;
}
