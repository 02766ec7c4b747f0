import { addDays, dayRange, isExistingLocalTime, toLocalDateAndTime } from '../common/calendar.js';
import type { PickupWindowView } from './shop.dto.js';
import { type OpeningWindow, type Shop, WEEKDAYS } from './shop.entity.js';

/** Number of orders that are collected at a time. */
export interface PickupCount {
  readonly pickupAt: Date;
  readonly orders: number;
}

/** Slots without a free place, by date. */
type FullSlots = ReadonlyMap<string, readonly OpeningWindow[]>;

const MINUTE_MS = 60_000;

/** Returns true if an order that is placed `now` can be collected at `pickupAt`. `counts`: orders that occupy a place. */
export function isPickupPossible(
  shop: Readonly<Shop>,
  pickupAt: Date,
  now: Date,
  counts: readonly PickupCount[] = [],
): boolean {
  const { timeZone, leadMinutes, daysAhead } = shop;
  if (isPaused(shop, now) || pickupAt.getTime() < now.getTime() + leadMinutes * MINUTE_MS) return false;
  if (pickupAt >= dayRange(addDays(toLocalDateAndTime(now, timeZone).date, daysAhead), timeZone).end)
    return false;
  const { date, time } = toLocalDateAndTime(pickupAt, timeZone);
  if (date < firstDate(shop, now)) return false;
  const windows = listFreeWindows(shop, date, findFullSlots(shop, counts));
  return windows.some((window) => contains(window, time));
}

/** Generates the windows from which a customer can choose `now`, sorted by time. `counts`: orders that occupy a place. */
export function* pickupWindows(
  shop: Readonly<Shop>,
  now: Date,
  counts: readonly PickupCount[] = [],
): Generator<PickupWindowView> {
  if (isPaused(shop, now)) return;
  const { timeZone, leadMinutes, daysAhead } = shop;
  const earliestMs = Math.ceil((now.getTime() + leadMinutes * MINUTE_MS) / MINUTE_MS) * MINUTE_MS;
  const earliest = toLocalDateAndTime(new Date(earliestMs), timeZone);
  const last = addDays(toLocalDateAndTime(now, timeZone).date, daysAhead);
  const full = findFullSlots(shop, counts);
  let date = firstDate(shop, now);
  if (date < earliest.date) date = earliest.date;
  for (; date <= last; date = addDays(date, 1)) {
    for (const [from, to] of listFreeWindows(shop, date, full)) {
      const isTooEarly = date === earliest.date && from < earliest.time;
      const window = clipToClock({ date, from: isTooEarly ? earliest.time : from, to }, timeZone);
      if (window.from < window.to) yield window;
    }
  }
}

export function isClosedOn(shop: Readonly<Shop>, date: string): boolean {
  return listOpeningWindows(shop, date).length === 0;
}

function isPaused({ pausedUntil }: Readonly<Shop>, now: Date): boolean {
  return pausedUntil !== null && now < pausedUntil;
}

/** Returns the first date for which the cut-off time has not passed. */
function firstDate({ timeZone, cutOff }: Readonly<Shop>, now: Date): string {
  const { date, time } = toLocalDateAndTime(now, timeZone);
  if (cutOff === null) return date;
  return addDays(date, time < cutOff ? 1 : 2);
}

function listOpeningWindows({ closed, closedRanges, hours }: Readonly<Shop>, date: string) {
  const weekday = WEEKDAYS.at(new Date(date).getUTCDay() - 1); // Sunday is day 0, so its index is -1.
  const isClosed = closed.includes(date) || closedRanges.some(({ from, to }) => from <= date && date <= to);
  return weekday === undefined || isClosed ? [] : hours[weekday];
}

function listFreeWindows(shop: Readonly<Shop>, date: string, full: FullSlots): readonly OpeningWindow[] {
  return (full.get(date) ?? []).reduce(cutOut, listOpeningWindows(shop, date));
}

function cutOut(windows: readonly OpeningWindow[], [start, end]: OpeningWindow): readonly OpeningWindow[] {
  return windows.flatMap(([from, to]): OpeningWindow[] => {
    if (end <= from || to <= start) return [[from, to]];
    return ([[from, start], [end, to]] as const).filter(([first, last]) => first < last); // prettier-ignore
  });
}

/** Sums up the orders of each slot. A slot is counted from the start of its opening window. */
function findFullSlots(shop: Readonly<Shop>, counts: readonly PickupCount[]): FullSlots {
  const { timeZone, slotMinutes, ordersPerSlot } = shop;
  const full = new Map<string, OpeningWindow[]>();
  if (slotMinutes === null || ordersPerSlot === null) return full;
  const sums = new Map<string, number>();
  for (const { pickupAt, orders } of counts) {
    const { date, time } = toLocalDateAndTime(pickupAt, timeZone);
    const window = listOpeningWindows(shop, date).find((candidate) => contains(candidate, time));
    if (window === undefined) continue;
    const [opening, closing] = window.map(toMinutes) as [number, number];
    const start = opening + Math.floor((toMinutes(time) - opening) / slotMinutes) * slotMinutes;
    const slot: OpeningWindow = [toTime(start), toTime(Math.min(start + slotMinutes, closing))];
    const key = `${date} ${slot[0]}`;
    const before = sums.get(key) ?? 0;
    sums.set(key, before + orders);
    if (before < ordersPerSlot && before + orders >= ordersPerSlot)
      full.set(date, [...(full.get(date) ?? []), slot]);
  }
  return full;
}

function contains([from, to]: OpeningWindow, time: string): boolean {
  return from <= time && time < to;
}

/** Shortens a window that begins or ends within the minutes that the clock skips on its date. */
function clipToClock(window: PickupWindowView, zone: string): PickupWindowView {
  const { date, from, to } = window;
  let [first, end] = [from, to];
  while (first < end && !isExistingLocalTime(date, first, zone)) first = addMinutes(first, 1);
  while (first < end && !isExistingLocalTime(date, addMinutes(end, -1), zone)) end = addMinutes(end, -1);
  return { date, from: first, to: end };
}

function addMinutes(time: string, minutes: number): string {
  return toTime(toMinutes(time) + minutes);
}

function toMinutes(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
}

function toTime(minutes: number): string {
  return [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':');
}
