import { useEffect, useState } from 'react';
import { useTimeZone, useToday } from '../api/shop';
import { formatClock, formatDate, toLocalDate } from '../calendar';
import { t } from '../i18n';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;

/** Time until which an order can be paid, with a countdown in the last hour. Screen readers do not read the countdown. */
export function PayUntil({ time }: { time: string }) {
  const timeZone = useTimeZone();
  const today = useToday();
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), SECOND_MS);
    return () => clearInterval(timer);
  }, []);
  const date = toLocalDate(new Date(time), timeZone);
  const clock = formatClock(time, timeZone);
  const text = date === today ? clock : t('dateAndTime', { date: formatDate(date), time: clock });
  const left = Math.max(0, Date.parse(time) - now);
  return (
    <p className="pay-until">
      <strong>{left === 0 ? t('order.payOver') : t('order.payUntil', { time: text })}</strong>{' '}
      {left > 0 && left < HOUR_MS && <span aria-hidden="true">{formatCountdown(left)}</span>}
    </p>
  );
}

function formatCountdown(ms: number) {
  const seconds = Math.floor(ms / SECOND_MS);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
