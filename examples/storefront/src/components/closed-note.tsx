import { useQuery } from '@tanstack/react-query';
import type { Shop } from '../api/client';
import { getPauseEnd, isClosedOn, shopInfo } from '../api/shop';
import { addDays, formatDate, formatDayAndTime, listDates, useToday } from '../calendar';
import { t } from '../i18n';
import { Icon } from './icon';

const RELOAD_MS = 60_000;

/** Number of days to search for the reopening. For a longer closure, the note names no date. */
const LONGEST_CLOSURE_DAYS = 366;

/** Note on every page of the shop while nothing can be ordered. */
export function ClosedNote() {
  // Reloads the shop for all parts of the page: a pause ends, and pickup times pass, while the page stays open.
  const { data } = useQuery({ ...shopInfo, refetchInterval: RELOAD_MS });
  const today = useToday();
  return (
    // Rendered even if it is empty: screen readers announce only changes of an existing region.
    <div role="status">
      {data?.pickup.length === 0 && (
        <p className="banner tone-waiting">
          <Icon name="clock" />
          {describeClosure(data, today)}
        </p>
      )}
    </div>
  );
}

function describeClosure(shop: Shop, today: string) {
  const pauseEnd = getPauseEnd(shop);
  if (pauseEnd !== null) return t('closed.paused', { time: formatDayAndTime(pauseEnd, today) });
  const tomorrow = addDays(today, 1);
  const reopening = listDates(tomorrow, LONGEST_CLOSURE_DAYS).find((date) => !isClosedOn(shop, date));
  // If the shop opens on a date that customers can choose, something else prevents orders, such as full slots.
  const lastDate = addDays(today, shop.days_ahead);
  if (reopening === undefined || reopening <= lastDate) return t('closed.noOrders');
  const note = t('closed.until', { date: formatDate(reopening) });
  const range = shop.closed_ranges.find(({ from, to }) => from <= tomorrow && tomorrow <= to);
  const reason = range?.reason ?? null;
  return reason === null ? note : `${note} (${reason})`;
}
