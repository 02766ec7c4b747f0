import { useEffect, useState } from 'react';
import { useTimeZone, useToday } from '../api/shop';
import { formatDayAndClock } from '../calendar';
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
  const end = formatDayAndClock(time, timeZone, today);
  const remainingMs = Math.max(0, Date.parse(time) - now);
  return (
    <p className="pay-until">
      <strong>{remainingMs === 0 ? t('order.payOver') : t('order.payUntil', { time: end })}</strong>{' '}
      {remainingMs > 0 && remainingMs < HOUR_MS && (
        <span aria-hidden="true">{formatCountdown(remainingMs)}</span>
      )}
    </p>
  );
}

function formatCountdown(ms: number) {
  const seconds = Math.floor(ms / SECOND_MS);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
