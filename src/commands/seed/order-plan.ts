import { addDays, startOfDay, toInstant, toLocalDate, toMinutes } from '../../common/calendar.js';
import type { TransactionStatus } from '../../gateway/payment-gateway.js';
import type { Fulfilment } from '../../orders/order-status.js';
import { listOpeningWindows } from '../../shop/pickup-windows.js';
import type { Shop } from '../../shop/shop.entity.js';
import { BAKERY } from './catalog.js';
import type { Random } from './random.js';

/** Payment and fulfilment that an order has reached by now. */
interface Progress {
  /** Statuses that the gateway reports for the payment, oldest first. */
  readonly paymentStatuses: readonly TransactionStatus[];
  readonly fulfilment: Fulfilment;
}

/** Order to place, with its payment events. */
export type OrderPlan = ReturnType<typeof planOrder>;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const PICKUP_STEP_MINUTES = 30;

const PAST_PROGRESS: readonly Progress[] = [
  ...Array.from({ length: 8 }, () => paid('collected')),
  { paymentStatuses: ['expire'], fulfilment: 'new' },
  { paymentStatuses: ['settlement', 'partial_refund'], fulfilment: 'collected' },
  { paymentStatuses: ['cancel'], fulfilment: 'refused' },
  { paymentStatuses: ['settlement', 'refund'], fulfilment: 'refused' },
];
/** In the order of the pickup times: the bakery has prepared an order for the morning, but not yet one for the evening. */
const PROGRESS_OF_TODAY = [paid('collected'), paid('ready'), paid('preparing'), paid('new'), paid('new')];
const COMING_PROGRESS: readonly Progress[] = [
  paid('new'),
  { paymentStatuses: [], fulfilment: 'new' },
  paid('new'),
  paid('refused'),
];

const PAST_DAYS = 60;

/** Days of the pickups in one round of orders, counted from today. `planOrders` shuffles each round. */
const ROUND: readonly number[] = [
  ...[0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 3],
  ...Array.from({ length: PAST_DAYS }, (_, index) => -1 - index),
];

/** Plans orders, in rounds of 71: 5 for today, 6 for later days and 60 for past days. */
export function planOrders(count: number, random: Random, shop: Readonly<Shop>, now: Date) {
  const rounds = Array.from({ length: Math.ceil(count / ROUND.length) }, () => random.shuffle(ROUND));
  return rounds
    .flat()
    .slice(0, count)
    .map((day) => planOrder(day, random, shop, now));
}

function planOrder(day: number, random: Random, shop: Readonly<Shop>, now: Date) {
  const share = random.next();
  const { paymentStatuses, fulfilment } =
    day === 0
      ? chooseByShare(PROGRESS_OF_TODAY, share)
      : random.pick(day < 0 ? PAST_PROGRESS : COMING_PROGRESS);
  const date = addDays(toLocalDate(now, shop.time_zone), day);
  const pickupAt = choosePickup(shop, date, share);
  const dueAt = pickupAt ?? startOfDay(date, shop.time_zone);
  const latest = now.getTime() - random.between(10, 250) * MINUTE_MS;
  // An order for a later day may be unpaid. The service expires unpaid orders after about a day, so these orders are recent.
  const createdMs = day > 0 ? latest : Math.min(dueAt.getTime() - random.between(3, 42) * HOUR_MS, latest);
  return {
    paymentStatuses,
    fulfilment,
    createdAt: new Date(createdMs),
    // Time of all payment events, also of an expiry or a cancellation.
    eventsAt: new Date(createdMs + 3 * MINUTE_MS),
    pickupAt: day < 0 && random.next() < 1 / 6 ? null : pickupAt,
    optionalFields: {
      ...(random.next() < 2 / 3 && {
        phone: `+62 812-${random.between(3000, 3999)}-${random.between(4000, 5999)}`,
      }),
      ...(random.next() < 1 / 5 && { note: random.pick(BAKERY.notes) }),
    },
  };
}

function paid(fulfilment: Fulfilment): Progress {
  return { paymentStatuses: ['settlement'], fulfilment };
}

function chooseByShare<T>(list: readonly T[], share: number): T {
  return list[Math.floor(share * list.length)] as T;
}

/**
 * Chooses a pickup time on a date. Returns null if the shop is closed on the date.
 * @param share position of the time in the opening hours, from 0 to below 1
 */
function choosePickup(shop: Readonly<Shop>, date: string, share: number): Date | null {
  const times: number[] = [];
  for (const [from, to] of listOpeningWindows(shop, date))
    for (let minutes = toMinutes(from); minutes < toMinutes(to); minutes += PICKUP_STEP_MINUTES)
      times.push(minutes);
  return times.length === 0 ? null : toInstant(date, chooseByShare(times, share), shop.time_zone);
}
