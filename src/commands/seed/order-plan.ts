import { addDays, localAt, startOfDay } from '../../common/calendar.js';
import type { Fulfilment } from '../../orders/fulfilment.js';
import type { TransactionStatus } from '../../gateway/payment-gateway.js';
import { listPickupWindows, type PickupRules } from '../../shop/pickup-windows.js';
import { BAKERY, pick } from './catalog.js';

/** Statuses that the gateway reports for a payment, oldest first, and what the bakery has done with the order. */
type Course = readonly [paymentStatuses: readonly TransactionStatus[], fulfilment: Fulfilment];

/** `eventsAt` is the time of all payment events, also of an expiry or a cancellation. */
export type OrderPlan = ReturnType<typeof planOrder>;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const PICKUP_STEP_MINUTES = 30;

const COLLECTED: Course = [['settlement'], 'collected'];
const PAST: readonly Course[] = [
  ...Array<Course>(8).fill(COLLECTED),
  [['expire'], 'new'],
  [['settlement', 'partial_refund'], 'collected'],
  [['cancel'], 'refused'],
  [['settlement', 'refund'], 'refused'],
];
/** In the order of the pickup times: the bakery prepares an order for the morning before one for the evening. */
const TODAY: readonly Course[] = [
  COLLECTED,
  [['settlement'], 'ready'],
  [['settlement'], 'preparing'],
  [['settlement'], 'new'],
  [['settlement'], 'new'],
];
const COMING: readonly Course[] = [
  [['settlement'], 'new'],
  [[], 'new'],
  [['settlement'], 'new'],
  [['settlement'], 'refused'],
];

const PAST_DAYS = 60;
/** Days of the orders, counted from today. The length is a prime, so any step visits every day. */
const DAYS = [
  ...Array<number>(TODAY.length).fill(0),
  ...[1, 1, 1, 2, 2, 3],
  ...Array.from({ length: PAST_DAYS }, (_, day) => -1 - day),
];
const DAY_STEP = 31;

/** Plans the n-th order. If no day is closed, 71 orders contain 5 for today, 6 for later days and 60 for past days. */
export function planOrder(n: number, seed: number, shop: PickupRules, now: Date) {
  const slot = (n * DAY_STEP + seed) % DAYS.length;
  const round = Math.floor(n / DAYS.length);
  const day = DAYS[slot] ?? 0;
  const courses = day < 0 ? PAST : day > 0 ? COMING : TODAY;
  const [paymentStatuses, fulfilment] = pick(courses, day === 0 ? slot : n + seed);
  // The pickup times of today follow the order of `TODAY`. Orders of another day are spread over five times.
  const share = (day === 0 ? slot + (round % 5) / 5 : (n * 7 + seed) % 5) / TODAY.length;
  const pickupAt = findPickup(shop, addDays(localAt(now, shop.timeZone).date, day), share);

  // Pending orders must be recent: the gateway lets them expire after a day.
  const latest = now.getTime() - (10 + (n % 240)) * MINUTE_MS;
  const createdMs = day > 0 ? latest : Math.min(pickupAt.getTime() - (3 + (n % 40)) * HOUR_MS, latest);
  return {
    paymentStatuses,
    fulfilment,
    createdAt: new Date(createdMs),
    eventsAt: new Date(createdMs + 3 * MINUTE_MS),
    pickupAt: day < 0 && n % 6 === 5 ? null : pickupAt,
    optionalFields: {
      ...(n % 3 !== 0 && { phone: `+62 812-${3000 + (n % 25) * 37}-${4100 + (n % 25) * 53}` }),
      ...(n % 5 === 4 && { note: pick(BAKERY.notes, n) }),
    },
  };
}

/**
 * Finds a pickup time on a date, or on the next open date within a week. Returns midnight if the shop stays closed.
 * @param share position of the time in the opening hours, from 0 to below 1
 */
function findPickup(shop: PickupRules, date: string, share: number): Date {
  const midnight = startOfDay(date, shop.timeZone);
  const windows = listPickupWindows({ ...shop, leadMinutes: 0, daysAhead: 7 }, midnight);
  const openDate = windows[0]?.date ?? date;
  const toMinutes = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
  const steps: number[] = [];
  for (const { from, to } of windows.filter((window) => window.date === openDate))
    for (let minutes = toMinutes(from); minutes < toMinutes(to); minutes += PICKUP_STEP_MINUTES)
      steps.push(minutes);
  const minutes = steps[Math.floor(share * steps.length)] ?? 0;
  return new Date(startOfDay(openDate, shop.timeZone).getTime() + minutes * MINUTE_MS);
}
