import { useQuery } from '@tanstack/react-query';
import type { Shop } from '../api/client';
import { isClosedOn, shopInfo, useToday } from '../api/shop';
import { addDays, formatClock, formatDate, listDates, toLocalDate } from '../calendar';
import { t } from '../i18n';
import { Icon } from './icon';

/** The note names the date of the reopening if it is within this time. */
const LONGEST_CLOSURE_DAYS = 366;

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

function describeClosure(shop: Shop, today: string) {
  const { closed_ranges, paused_until, time_zone } = shop;
  if (paused_until !== null && Date.parse(paused_until) > Date.now()) {
    const date = toLocalDate(new Date(paused_until), time_zone);
    const time = formatClock(paused_until, time_zone);
    return t('closed.paused', {
      time: date === today ? time : t('dateAndTime', { date: formatDate(date), time }),
    });
  }
  const tomorrow = addDays(today, 1);
  // A range that begins tomorrow counts: nothing can be ordered for the rest of today.
  const range = closed_ranges.find(({ from, to }) => from <= tomorrow && today <= to);
  const until = listDates(tomorrow, LONGEST_CLOSURE_DAYS).find((date) => !isClosedOn(shop, date));
  if (range === undefined || until === undefined) return t('closed.noOrders');
  const note = t('closed.until', { date: formatDate(until) });
  return range.reason === null ? note : `${note} (${range.reason})`;
}
