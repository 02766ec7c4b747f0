import { Duration } from 'luxon';
import { addDays, dayRange, isExistingLocalTime, localAt, mayClockChange } from '../common/calendar.js';
import type { PickupWindowView } from './shop.dto.js';
import { type OpeningWindow, type Shop, WEEKDAYS } from './shop.entity.js';

export type PickupRules = Readonly<Omit<Shop, 'id'>>;

const MINUTE_MS = 60_000;

/** Returns true if an order that is placed `now` can be collected at `pickupAt`. */
export function isPickupPossible(rules: PickupRules, pickupAt: Date, now: Date): boolean {
  const { timeZone, leadMinutes, daysAhead } = rules;
  if (pickupAt.getTime() < now.getTime() + leadMinutes * MINUTE_MS) return false;
  if (pickupAt >= dayRange(addDays(localAt(now, timeZone).date, daysAhead), timeZone).end) return false;
  const { date, time } = localAt(pickupAt, timeZone);
  return listOpeningWindows(rules, date).some(([from, to]) => from <= time && time < to);
}

/** Lists the windows from which a customer can choose now, sorted by time. */
export function listPickupWindows(rules: PickupRules, now: Date): PickupWindowView[] {
  const { timeZone, leadMinutes, daysAhead } = rules;
  const earliestMs = Math.ceil((now.getTime() + leadMinutes * MINUTE_MS) / MINUTE_MS) * MINUTE_MS;
  const earliest = localAt(new Date(earliestMs), timeZone);
  const today = localAt(now, timeZone).date;
  const dates = Array.from({ length: daysAhead + 1 }, (_, days) => addDays(today, days));
  return dates
    .filter((date) => date >= earliest.date)
    .flatMap((date) =>
      listOpeningWindows(rules, date).map(([from, to]) => {
        const isTooEarly = date === earliest.date && from < earliest.time;
        return clipToClock({ date, from: isTooEarly ? earliest.time : from, to }, timeZone);
      }),
    )
    .filter(({ from, to }) => from < to);
}

function listOpeningWindows({ closed, hours }: PickupRules, date: string): readonly OpeningWindow[] {
  const weekday = WEEKDAYS.at(new Date(date).getUTCDay() - 1); // Sunday is day 0, so its index is -1.
  return weekday === undefined || closed.includes(date) ? [] : hours[weekday];
}

/** Shortens a window that begins or ends within the minutes that the clock skips on its date. */
function clipToClock(window: PickupWindowView, zone: string): PickupWindowView {
  const { date, from, to } = window;
  if (!mayClockChange(date, zone)) return window;
  let [first, end] = [from, to];
  while (first < end && !isExistingLocalTime(date, first, zone)) first = addMinutes(first, 1);
  while (first < end && !isExistingLocalTime(date, addMinutes(end, -1), zone)) end = addMinutes(end, -1);
  return { date, from: first, to: end };
}

function addMinutes(time: string, minutes: number): string {
  return Duration.fromISOTime(time).plus({ minutes }).toFormat('hh:mm');
}
