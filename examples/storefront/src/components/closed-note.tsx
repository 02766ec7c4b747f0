import { useQuery } from '@tanstack/react-query';
import type { Shop } from '../api/client';
import { shopInfo, useToday } from '../api/shop';
import { addDays, formatClock, formatDate, toLocalDate } from '../calendar';
import { t } from '../i18n';
import { Icon } from './icon';

/** Note on every page of the shop while nothing can be ordered. */
export function ClosedNote() {
  const { data } = useQuery(shopInfo);
  const today = useToday();
  return (
    <div role="status">
      {data?.pickup.length === 0 && (
        <p className="closed-note tone-waiting">
          <Icon name="clock" />
          {describeClosure(data, today)}
        </p>
      )}
    </div>
  );
}

function describeClosure({ closed_ranges, closed, paused_until, time_zone }: Shop, today: string) {
  if (paused_until !== null && Date.parse(paused_until) > Date.now()) {
    const date = toLocalDate(new Date(paused_until), time_zone);
    const time = formatClock(paused_until, time_zone);
    return t('closed.paused', {
      time: date === today ? time : t('dateAndTime', { date: formatDate(date), time }),
    });
  }
  const range = closed_ranges.find(({ from, to }) => from <= addDays(today, 1) && today <= to);
  if (range === undefined) return t('closed.noOrders');
  let until = addDays(range.to, 1);
  while (closed.includes(until)) until = addDays(until, 1);
  const note = t('closed.until', { date: formatDate(until) });
  return range.reason === null ? note : `${note} (${range.reason})`;
}
