import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { newestPaidOrderIds } from '../../api/orders';
import { Button } from '../../components/button';
import { focusHeading } from '../../components/page-heading';
import { t } from '../../i18n';
import { showToast } from '../../state/toast';
import { allowSound, beep, useSound } from './sound';

/** Events after which somebody has seen the page. */
const SEEN_EVENTS = ['focus', 'visibilitychange', 'pointerdown'];

/**
 * Announces newly paid orders on every page for administrators: with a message, a sound, and a number in the tab's title
 * until somebody has seen the page. An order is new if no earlier poll contained it. Shows a button that turns on the sound.
 */
export function NewOrderAlerts() {
  const { data } = useQuery(newestPaidOrderIds);
  const isSoundAllowed = useSound(({ isAllowed }) => isAllowed);
  const known = useRef<Set<string>>(undefined);
  const unseenCount = useRef(0);
  useEffect(() => {
    if (data === undefined) return;
    const before = known.current;
    known.current = new Set([...(before ?? []), ...data]);
    const newCount = before === undefined ? 0 : data.filter((id) => !before.has(id)).length;
    if (newCount === 0) return;
    unseenCount.current += newCount;
    showInTitle(unseenCount.current);
    showToast(t('manage.newOrders', { count: newCount }));
    beep();
  }, [data]);
  useEffect(() => {
    const markSeen = () => {
      unseenCount.current = 0;
      showInTitle(0);
    };
    const controller = new AbortController();
    for (const event of SEEN_EVENTS) window.addEventListener(event, markSeen, { signal: controller.signal });
    return () => controller.abort();
  }, []);
  const turnOnSound = async () => {
    await allowSound();
    // The pressed button disappears.
    focusHeading();
  };
  if (isSoundAllowed) return null;
  return (
    <Button className="link" onClick={() => void turnOnSound()}>
      {t('sound.allow')}
    </Button>
  );
}

/** Shows a number before the title of the tab, or no number if it is 0. */
function showInTitle(count: number) {
  const title = document.title.replace(/^\(\d+\) /, '');
  document.title = count === 0 ? title : `(${count}) ${title}`;
}
