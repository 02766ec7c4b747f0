import { addDays, toLocalDateAndTime, toMinutes } from '../common/calendar.js';
import type { PickupWindowView } from './shop.dto.js';
import { type OpeningWindow, type Shop, WEEKDAYS } from './shop.entity.js';

/** Number of orders with the same pickup time. */
export interface PickupCount {
  readonly pickupAt: Date;
  readonly orders: number;
}

/** Part of an opening window in which the shop limits the orders. */
interface Slot {
  readonly date: string;
  readonly window: OpeningWindow;
  orders: number;
}

const MINUTE_MS = 60_000;

/**
 * Returns true if a customer can choose this pickup time `now`.
 * @param counts orders that count toward the limit of a slot; without them, no slot is full
 */
export function isPickupPossible(
  shop: Readonly<Shop>,
  pickupAt: Date,
  now: Date,
  counts: readonly PickupCount[] = [],
): boolean {
  const range = computeBookableRange(shop, now);
  if (range === null || pickupAt < range.earliest) return false;
  const { date, time } = toLocalDateAndTime(pickupAt, shop.time_zone);
  if (date < range.firstDate || date > range.lastDate) return false;
  const windows = listFreeWindows(shop, date, listFullSlots(shop, counts));
  return windows.some((window) => contains(window, time));
}

/**
 * Generates the windows from which a customer can choose `now`, sorted by time.
 * @param counts orders that count toward the limit of a slot
 */
export function* generatePickupWindows(
  shop: Readonly<Shop>,
  now: Date,
  counts: readonly PickupCount[] = [],
): Generator<PickupWindowView> {
  const range = computeBookableRange(shop, now);
  if (range === null) return;
  const earliestMs = Math.ceil(range.earliest.getTime() / MINUTE_MS) * MINUTE_MS;
  const earliest = toLocalDateAndTime(new Date(earliestMs), shop.time_zone);
  const fullSlots = listFullSlots(shop, counts);
  let date = range.firstDate < earliest.date ? earliest.date : range.firstDate;
  for (; date <= range.lastDate; date = addDays(date, 1)) {
    for (const [from, to] of listFreeWindows(shop, date, fullSlots)) {
      const isTooEarly = date === earliest.date && from < earliest.time;
      const window = { date, from: isTooEarly ? earliest.time : from, to };
      if (window.from < window.to) yield window;
    }
  }
}

/** Returns true if a customer can choose no pickup time `now`. */
export function hasNoPickup(shop: Readonly<Shop>, now: Date, counts: readonly PickupCount[] = []): boolean {
  return generatePickupWindows(shop, now, counts).next().done === true;
}

export function isClosedOn(shop: Readonly<Shop>, date: string): boolean {
  return listOpeningWindows(shop, date).length === 0;
}

/** Computes the range of the pickup times from which a customer can choose `now`. Returns null if orders are paused. */
function computeBookableRange(shop: Readonly<Shop>, now: Date) {
  if (shop.paused_until !== null && now < shop.paused_until) return null;
  const { date: today, time } = toLocalDateAndTime(now, shop.time_zone);
  const daysUntilFirst = shop.cut_off === null ? 0 : time < shop.cut_off ? 1 : 2;
  return {
    earliest: new Date(now.getTime() + shop.lead_minutes * MINUTE_MS),
    firstDate: addDays(today, daysUntilFirst),
    lastDate: addDays(today, shop.days_ahead),
  };
}

/** Returns the opening windows of a date, without regard to the pickup times that can still be chosen. */
export function listOpeningWindows({ closed, closed_ranges, hours }: Readonly<Shop>, date: string) {
  const weekday = WEEKDAYS.at(new Date(date).getUTCDay() - 1); // Sunday is day 0, so its index is -1.
  const isClosed = closed.includes(date) || closed_ranges.some(({ from, to }) => from <= date && date <= to);
  return weekday === undefined || isClosed ? [] : hours[weekday];
}

function listFreeWindows(shop: Readonly<Shop>, date: string, fullSlots: readonly Slot[]) {
  const full = fullSlots.filter((slot) => slot.date === date).map(({ window }) => window);
  return full.reduce(cutOut, listOpeningWindows(shop, date));
}

function cutOut(windows: readonly OpeningWindow[], [start, end]: OpeningWindow): readonly OpeningWindow[] {
  return windows.flatMap(([from, to]): OpeningWindow[] => {
    if (end <= from || to <= start) return [[from, to]];
    const before: OpeningWindow = [from, start];
    const after: OpeningWindow = [end, to];
    return [before, after].filter(([first, last]) => first < last);
  });
}

type ShopWithSlotLimit = Readonly<Shop> & { readonly slot_minutes: number; readonly orders_per_slot: number };

/** Returns true if the shop limits the orders of a slot. */
export function hasSlotLimit(shop: Readonly<Shop>): shop is ShopWithSlotLimit {
  return shop.slot_minutes !== null && shop.orders_per_slot !== null;
}

/** Returns the slots that have reached `orders_per_slot`. Slots are counted from the start of their opening window. */
function listFullSlots(shop: Readonly<Shop>, counts: readonly PickupCount[]): Slot[] {
  if (!hasSlotLimit(shop)) return [];
  const { time_zone, slot_minutes, orders_per_slot } = shop;
  const slots = new Map<string, Slot>();
  for (const { pickupAt, orders } of counts) {
    const { date, time } = toLocalDateAndTime(pickupAt, time_zone);
    const opening = listOpeningWindows(shop, date).find((candidate) => contains(candidate, time));
    if (opening === undefined) continue;
    const [from, to] = opening.map(toMinutes) as [number, number];
    const start = from + Math.floor((toMinutes(time) - from) / slot_minutes) * slot_minutes;
    const key = `${date} ${start}`;
    const window = [toTime(start), toTime(Math.min(start + slot_minutes, to))] as const;
    const slot = slots.get(key) ?? { date, window, orders: 0 };
    slot.orders += orders;
    slots.set(key, slot);
  }
  return [...slots.values()].filter((slot) => slot.orders >= orders_per_slot);
}

function contains([from, to]: OpeningWindow, time: string): boolean {
  return from <= time && time < to;
}

function toTime(minutes: number): string {
  return [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':');
}
