import { useQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef } from 'react';
import { newestPaidOrderIds } from '../../api/orders';
import { Button } from '../../components/button';
import { focusHeading } from '../../components/page-heading';
import { t } from '../../i18n';
import { useSession } from '../../state/session';
import { showToast } from '../../state/toast';
import { allowSound, beep, useSound } from './sound';

/** Events after which somebody has seen the page. */
const SEEN_EVENTS = ['focus', 'visibilitychange', 'pointerdown', 'keydown'];

/**
 * Announces newly paid orders and the end of the session on every page for administrators: with a sound, and a number in the
 * tab's title until somebody has seen the page. An order is new if no earlier poll contained it. Shows a button that turns on the
 * sound.
 */
export function Announcements() {
  const { data } = useQuery(newestPaidOrderIds);
  const hasSessionEnded = useSession(({ user }) => user === null);
  const isSoundAllowed = useSound(({ isAllowed }) => isAllowed);
  const known = useRef<Set<string>>(undefined);
  const unseenCount = useRef(0);
  const announce = useEffectEvent((count: number) => {
    unseenCount.current += count;
    showInTitle(unseenCount.current);
    beep();
  });
  useEffect(() => {
    // Without a session, the page no longer learns of new orders.
    if (hasSessionEnded) announce(1);
  }, [hasSessionEnded]);
  useEffect(() => {
    if (data === undefined) return;
    const before = known.current;
    known.current = new Set([...(before ?? []), ...data]);
    const newCount = before === undefined ? 0 : data.filter((id) => !before.has(id)).length;
    if (newCount === 0) return;
    showToast(t('manage.newOrders', { count: newCount }));
    announce(newCount);
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
