import { built } from './support/built.js';
import { ALWAYS_OPEN, everyDay, type ShopSettings } from './support/opening.js';

const { isPickupPossible, listPickupWindows } = await built('src/shop/pickup-windows.js');
const { dayRange } = await built('src/common/calendar.js');

function buildRules(settings: Partial<ShopSettings>) {
  const { time_zone, hours, closed, lead_minutes, days_ahead } = { ...ALWAYS_OPEN, ...settings };
  return {
    timeZone: time_zone,
    hours: hours as Parameters<typeof isPickupPossible>[0]['hours'],
    closed: [...closed],
    leadMinutes: lead_minutes,
    daysAhead: days_ahead,
  };
}

function isPossible(settings: Partial<ShopSettings>, pickupAt: string, now: string): boolean {
  return isPickupPossible(buildRules(settings), new Date(pickupAt), new Date(now));
}

function windows(settings: Partial<ShopSettings>, now: string): string[] {
  return listPickupWindows(buildRules(settings), new Date(now)).map(
    ({ date, from, to }) => `${date} ${from}-${to}`,
  );
}

const DAY = { hours: everyDay(['07:00', '18:00']) };

describe('pickup', () => {
  it.each([
    ['before the opening', '2026-11-24T06:59:59.999+07:00', false],
    ['at the opening', '2026-11-24T07:00:00+07:00', true],
    ['in the last minute', '2026-11-24T17:59:59.999+07:00', true],
    ['at the closing', '2026-11-24T18:00:00+07:00', false],
    ['at an open time that is written in another zone', '2026-11-24T00:00:00Z', true],
    ['at a closed time that is open in UTC', '2026-11-24T12:00:00Z', false],
  ])('%s: possible is %s', (_when, pickupAt, expected) => {
    expect(isPossible(DAY, pickupAt, '2026-11-22T10:00:00+07:00')).toBe(expected);
  });

  it('is possible from the lead time on, to the millisecond', () => {
    const rules = { ...DAY, lead_minutes: 120 };
    expect(isPossible(rules, '2026-11-22T12:00:00+07:00', '2026-11-22T10:00:00+07:00')).toBe(true);
    expect(isPossible(rules, '2026-11-22T11:59:59.999+07:00', '2026-11-22T10:00:00+07:00')).toBe(false);
  });

  it('is possible up to the last day, counted in dates of the shop', () => {
    const rules = { ...DAY, days_ahead: 1 };
    // 22 November in UTC, 23 November in Jakarta.
    expect(isPossible(rules, '2026-11-24T17:59:00+07:00', '2026-11-22T17:00:00Z')).toBe(true);
    expect(isPossible(rules, '2026-11-24T17:59:00+07:00', '2026-11-22T16:59:00Z')).toBe(false);
  });

  it('is impossible on a closed date and on a weekday without opening hours', () => {
    const rules = { ...DAY, closed: ['2026-11-24'], hours: { ...DAY.hours, wed: [] } };
    expect(isPossible(rules, '2026-11-24T10:00:00+07:00', '2026-11-22T10:00:00+07:00')).toBe(false);
    expect(isPossible(rules, '2026-11-25T10:00:00+07:00', '2026-11-22T10:00:00+07:00')).toBe(false);
    expect(isPossible(rules, '2026-11-26T10:00:00+07:00', '2026-11-22T10:00:00+07:00')).toBe(true);
  });

  it('is possible until midnight with 24:00 as the end of a window', () => {
    const rules = { hours: everyDay(['20:00', '24:00']) };
    expect(isPossible(rules, '2026-11-24T23:59:59+07:00', '2026-11-22T10:00:00+07:00')).toBe(true);
    expect(isPossible(rules, '2026-11-25T00:00:00+07:00', '2026-11-22T10:00:00+07:00')).toBe(false);
  });

  it('follows local time when daylight saving time begins and ends', () => {
    const berlin = { ...DAY, time_zone: 'Europe/Berlin' };
    expect(isPossible(berlin, '2026-03-29T05:00:00Z', '2026-03-28T10:00:00Z')).toBe(true);
    expect(isPossible(berlin, '2026-03-29T04:59:00Z', '2026-03-28T10:00:00Z')).toBe(false);
    expect(isPossible(berlin, '2026-10-25T06:00:00Z', '2026-10-24T10:00:00Z')).toBe(true);
    expect(isPossible(berlin, '2026-10-25T05:59:00Z', '2026-10-24T10:00:00Z')).toBe(false);
    // 02:30 occurs twice.
    const night = { time_zone: 'Europe/Berlin', hours: everyDay(['02:00', '03:00']) };
    for (const pickupAt of ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z'])
      expect(isPossible(night, pickupAt, '2026-10-24T10:00:00Z')).toBe(true);
    expect(isPossible(night, '2026-10-25T02:00:00Z', '2026-10-24T10:00:00Z')).toBe(false);
  });
});

describe('the pickup windows', () => {
  it('start after the lead time today and include the windows of the following days', () => {
    const rules = {
      hours: everyDay(['07:00', '12:00'], ['13:00', '18:00']),
      lead_minutes: 90,
      days_ahead: 1,
    };
    expect(windows(rules, '2026-11-22T11:45:30.500+07:00')).toEqual([
      '2026-11-22 13:16-18:00',
      '2026-11-23 07:00-12:00',
      '2026-11-23 13:00-18:00',
    ]);
  });

  it('omit today after the last window and start on a later day if the lead time is long', () => {
    expect(windows({ ...DAY, days_ahead: 1 }, '2026-11-22T18:00:00+07:00')).toEqual([
      '2026-11-23 07:00-18:00',
    ]);
    const slow = { ...DAY, days_ahead: 3, lead_minutes: 2 * 24 * 60 };
    expect(windows(slow, '2026-11-22T09:00:00+07:00')).toEqual([
      '2026-11-24 09:00-18:00',
      '2026-11-25 07:00-18:00',
    ]);
  });

  it('omit closed dates', () => {
    const rules = { ...DAY, days_ahead: 2, closed: ['2026-11-23'] };
    expect(windows(rules, '2026-11-22T06:00:00+07:00')).toEqual([
      '2026-11-22 07:00-18:00',
      '2026-11-24 07:00-18:00',
    ]);
  });

  it.each([
    [['02:00', '03:00'], []],
    [['02:30', '06:00'], ['03:00-06:00']],
    [['01:00', '02:30'], ['01:00-02:00']],
    [['01:00', '06:00'], ['01:00-06:00']],
    [['22:00', '24:00'], ['22:00-24:00']],
  ] as const)('of %s contain no time that the clock skips on 29 March in Berlin', (window, expected) => {
    const rules = { time_zone: 'Europe/Berlin', hours: everyDay(window), days_ahead: 1 };
    const found = windows(rules, '2026-03-28T23:30:00Z').filter((line) => line.startsWith('2026-03-29'));
    expect(found).toEqual(expected.map((times) => `2026-03-29 ${times}`));
  });

  it('contain exactly the possible pickup times, also on days on which the clocks change', () => {
    const rules = { time_zone: 'America/New_York', hours: everyDay(['00:00', '02:30'], ['02:45', '24:00']) };
    const clock = new Intl.DateTimeFormat('en-GB', { timeZone: rules.time_zone, timeStyle: 'short' });
    for (const day of ['2026-03-08', '2026-07-01', '2026-11-01']) {
      const now = new Date(dayRange(day, rules.time_zone).start.getTime() - 3_600_000);
      const found = listPickupWindows(buildRules(rules), now).filter(({ date }) => date === day);
      const { start, end } = dayRange(day, rules.time_zone);
      for (let at = start.getTime(); at < end.getTime(); at += 5 * 60_000) {
        const time = clock.format(at);
        const isListed = found.some(({ from, to }) => from <= time && time < to);
        const isPossibleThen = isPickupPossible(buildRules(rules), new Date(at), now);
        expect([day, time, isListed]).toEqual([day, time, isPossibleThen]);
      }
    }
  });
});

describe('a day', () => {
  it.each([
    ['Asia/Jakarta', '2026-11-24', '2026-11-23T17:00:00.000Z', 24],
    ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00.000Z', 23],
    ['Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00.000Z', 25],
    // Clocks go back from 01:00 to 00:00: midnight occurs twice.
    ['America/Havana', '2026-11-01', '2026-11-01T04:00:00.000Z', 25],
    // Clocks go forward at 00:00: there is no midnight.
    ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00:00.000Z', 23],
    ['UTC', '9999-12-31', '9999-12-31T00:00:00.000Z', 24],
  ])('in %s, %s begins at %s and has %d hours', (zone, date, start, hours) => {
    const range = dayRange(date, zone);
    expect(range.start.toISOString()).toBe(start);
    expect((range.end.getTime() - range.start.getTime()) / 3_600_000).toBe(hours);
  });
});
