import { dayRange } from '../src/common/calendar.js';
import { isPickupPossible, generatePickupWindows } from '../src/shop/pickup-windows.js';
import { DEFAULT_SHOP } from '../src/shop/shop.service.js';
import { everyDay } from './support/shop-settings.js';

/** Settings that differ from those of a shop that is always open. */
type Settings = Partial<Omit<typeof DEFAULT_SHOP, 'id'>>;

const toOpenShop = (settings: Settings) => {
  return { ...DEFAULT_SHOP, hours: everyDay(['00:00', '24:00']), lead_minutes: 0, ...settings };
};

/** @param pickups pickup times of orders that count toward the limit of a slot */
function listWindows(settings: Settings, now: string, pickups: string[] = []): string[] {
  const counts = pickups.map((time) => ({ pickupAt: new Date(time), orders: 1 }));
  const windows = generatePickupWindows(toOpenShop(settings), new Date(now), counts);
  return [...windows].map(({ date, from, to }) => `${date} ${from}-${to}`);
}

const DAY = { hours: everyDay(['07:00', '18:00']) };
const NOW = '2026-11-22T10:00:00+07:00';
const BEFORE_10 = '2026-11-22T09:59:59+07:00';
const ONE_DAY_AHEAD = { ...DAY, days_ahead: 1 };
const TWO_HOURS_LEAD = { ...DAY, lead_minutes: 120 };
const CLOSED = { ...DAY, closed: ['2026-11-24'], hours: { ...DAY.hours, wed: [] } };
const EVENING = { hours: everyDay(['20:00', '24:00']) };
const RANGE = {
  ...DAY,
  closed_ranges: [{ from: '2026-11-23', to: '2026-11-24', reason: null }],
};
const CUT_OFF = { ...DAY, cut_off: '10:00' };
const PAUSED = { ...DAY, paused_until: new Date('2026-11-22T10:30:00+07:00') };

it.each<[string, string, Settings, string, string]>([
  ['impossible', 'before the opening', DAY, '2026-11-24T06:59:59.999+07:00', NOW],
  ['possible', 'at the opening', DAY, '2026-11-24T07:00:00+07:00', NOW],
  ['possible', 'in the last minute', DAY, '2026-11-24T17:59:59.999+07:00', NOW],
  ['impossible', 'at the closing', DAY, '2026-11-24T18:00:00+07:00', NOW],
  ['impossible', 'at a closed time that would be open in UTC', DAY, '2026-11-24T12:00:00Z', NOW],
  ['possible', 'after the lead time', TWO_HOURS_LEAD, '2026-11-22T12:00:00+07:00', NOW],
  ['impossible', 'within the lead time', TWO_HOURS_LEAD, '2026-11-22T11:59:59.999+07:00', NOW],
  // 17:00 UTC on 22 November is 00:00 on 23 November in Jakarta.
  ['possible', 'on the last day', ONE_DAY_AHEAD, '2026-11-24T17:59:00+07:00', '2026-11-22T17:00:00Z'],
  ['impossible', 'after the last day', ONE_DAY_AHEAD, '2026-11-24T17:59:00+07:00', '2026-11-22T16:59:00Z'],
  ['impossible', 'on a closed date', CLOSED, '2026-11-24T10:00:00+07:00', NOW],
  ['impossible', 'on a weekday without opening hours', CLOSED, '2026-11-25T10:00:00+07:00', NOW],
  ['possible', 'after a closed date', CLOSED, '2026-11-26T10:00:00+07:00', NOW],
  ['impossible', 'on the first date of a closed range', RANGE, '2026-11-23T10:00:00+07:00', NOW],
  ['impossible', 'on the last date of a closed range', RANGE, '2026-11-24T10:00:00+07:00', NOW],
  ['possible', 'after a closed range', RANGE, '2026-11-25T10:00:00+07:00', NOW],
  ['impossible', 'today if there is a cut-off time', CUT_OFF, '2026-11-22T12:00:00+07:00', BEFORE_10],
  ['possible', 'tomorrow before the cut-off time', CUT_OFF, '2026-11-23T07:00:00+07:00', BEFORE_10],
  ['impossible', 'tomorrow from the cut-off time on', CUT_OFF, '2026-11-23T12:00:00+07:00', NOW],
  ['possible', 'the day after tomorrow after the cut-off time', CUT_OFF, '2026-11-24T07:00:00+07:00', NOW],
  ['impossible', 'during a pause', PAUSED, '2026-11-24T10:00:00+07:00', NOW],
  ['possible', 'when the pause ends', PAUSED, '2026-11-24T10:00:00+07:00', '2026-11-22T10:30:00+07:00'],
  ['possible', 'just before the closing at 24:00', EVENING, '2026-11-24T23:59:59+07:00', NOW],
  ['impossible', 'at the closing at 24:00', EVENING, '2026-11-25T00:00:00+07:00', NOW],
])('pickup is %s %s', (expected, _when, settings, pickupAt, now) => {
  const isPossible = isPickupPossible(toOpenShop(settings), new Date(pickupAt), new Date(now));
  expect(isPossible).toBe(expected === 'possible');
});

describe('the pickup windows', () => {
  it.each<[string, Settings, string, string[]]>([
    [
      'start after the lead time today',
      { hours: everyDay(['07:00', '12:00'], ['13:00', '18:00']), lead_minutes: 90, days_ahead: 1 },
      '2026-11-22T11:45:30.500+07:00',
      ['2026-11-22 13:16-18:00', '2026-11-23 07:00-12:00', '2026-11-23 13:00-18:00'],
    ],
    ['omit today after the closing', ONE_DAY_AHEAD, '2026-11-22T18:00:00+07:00', ['2026-11-23 07:00-18:00']],
    [
      'omit days within the lead time',
      { ...DAY, days_ahead: 3, lead_minutes: 2 * 24 * 60 },
      '2026-11-22T09:00:00+07:00',
      ['2026-11-24 09:00-18:00', '2026-11-25 07:00-18:00'],
    ],
  ])('%s', (_rule, settings, now, windows) => {
    expect(listWindows(settings, now)).toEqual(windows);
  });

  it('omit full slots, which are counted from the start of their opening window and end with the window', () => {
    const hours = everyDay(['07:30', '10:00'], ['13:00', '14:00']);
    const settings = { hours, days_ahead: 1, slot_minutes: 60, orders_per_slot: 2 } as const;
    const onDay = (...times: string[]) => times.map((time) => `2026-11-23T${time}:00+07:00`);
    const list = (...times: string[]) => listWindows(settings, '2026-11-22T20:00:00+07:00', onDay(...times));
    const [morning, noon] = ['2026-11-23 07:30-10:00', '2026-11-23 13:00-14:00'];
    expect(list('08:29', '08:30', '12:00', '12:00')).toEqual([morning, noon]);
    expect(list('08:30', '09:29', '13:00')).toEqual([
      '2026-11-23 07:30-08:30',
      '2026-11-23 09:30-10:00',
      noon,
    ]);
    expect(list('09:30', '09:59', '09:59', '13:00', '13:59')).toEqual(['2026-11-23 07:30-09:30']);
  });

  it('contain exactly the possible pickup times, also on days on which the clocks change', () => {
    const settings = {
      time_zone: 'America/New_York',
      hours: everyDay(['00:00', '02:30'], ['02:45', '24:00']),
    };
    const clock = new Intl.DateTimeFormat('en-GB', { timeZone: settings.time_zone, timeStyle: 'short' });
    for (const day of ['2026-03-08', '2026-07-01', '2026-11-01']) {
      const now = new Date(dayRange(day, settings.time_zone).start.getTime() - 3_600_000);
      const found = [...generatePickupWindows(toOpenShop(settings), now)].filter(({ date }) => date === day);
      const { start, end } = dayRange(day, settings.time_zone);
      for (let at = start.getTime(); at < end.getTime(); at += 5 * 60_000) {
        const time = clock.format(at);
        const isListed = found.some(({ from, to }) => from <= time && time < to);
        const isPossibleThen = isPickupPossible(toOpenShop(settings), new Date(at), now);
        expect([day, time, isListed]).toEqual([day, time, isPossibleThen]);
      }
    }
  });
});

it.each([
  ['Asia/Jakarta', '2026-11-24', '2026-11-23T17:00:00.000Z', 24],
  ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00.000Z', 23],
  ['Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00.000Z', 25],
  // Clocks go back from 01:00 to 00:00: midnight occurs twice.
  ['America/Havana', '2026-11-01', '2026-11-01T04:00:00.000Z', 25],
  // Clocks go forward at 00:00: there is no midnight.
  ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00:00.000Z', 23],
  ['UTC', '9999-12-31', '9999-12-31T00:00:00.000Z', 24],
])('in %s, the day %s begins at %s and has %d hours', (zone, date, start, hours) => {
  const range = dayRange(date, zone);
  expect(range.start.toISOString()).toBe(start);
  expect((range.end.getTime() - range.start.getTime()) / 3_600_000).toBe(hours);
});
