import fc from 'fast-check';
import { parseTransactionTime } from '../src/payments/transaction-time.js';

const RUNS = 2_000;

/** Times that four digits of a year can write, to the second, wherever on earth. */
const time = fc.date({
  min: new Date('0001-01-02T00:00:00Z'),
  max: new Date('9999-12-30T00:00:00Z'),
  noInvalidDate: true,
});

/** A time as a clock this far east of Greenwich shows it, without an offset: `YYYY-MM-DDTHH:MM:SS.sss`. */
function clock(at: Date, offsetMinutes: number): string {
  return new Date(at.getTime() + offsetMinutes * 60_000).toISOString().slice(0, -1);
}

describe('parseTransactionTime', () => {
  it('reads every time that toISOString writes', () => {
    fc.assert(
      fc.property(time, (at) => {
        expect(parseTransactionTime(at.toISOString())).toEqual(at);
      }),
      { numRuns: RUNS },
    );
  });

  it('reads ISO 8601 at every offset, in its extended and its basic form', () => {
    fc.assert(
      fc.property(time, fc.integer({ min: -14 * 60, max: 14 * 60 }), (at, minutes) => {
        const east = Math.abs(minutes);
        const sign = minutes < 0 ? '-' : '+';
        const hours = String(Math.floor(east / 60)).padStart(2, '0');
        const rest = String(east % 60).padStart(2, '0');
        const extended = clock(at, minutes);
        const basic = extended.replaceAll(/[-:]/g, '');
        expect(parseTransactionTime(`${extended}${sign}${hours}:${rest}`)).toEqual(at);
        expect(parseTransactionTime(`${extended}${sign}${hours}${rest}`)).toEqual(at);
        expect(parseTransactionTime(`${basic}${sign}${hours}${rest}`)).toEqual(at);
      }),
      { numRuns: RUNS },
    );
  });

  it('reads the own form of the gateway in GMT+7', () => {
    fc.assert(
      fc.property(time, (at) => {
        const toTheSecond = new Date(Math.floor(at.getTime() / 1000) * 1000);
        const text = clock(toTheSecond, 7 * 60)
          .slice(0, 19)
          .replace('T', ' ');
        expect(parseTransactionTime(text)).toEqual(toTheSecond);
      }),
      { numRuns: RUNS },
    );
  });

  it('is null or a valid time for any text, and never throws', () => {
    const nearly = fc.stringMatching(
      /^[\d]{4}-[\d]{2}-[\d]{2}[T ]?[\d]{2}:[\d]{2}:[\d]{2}(Z|[+-]\d\d:\d\d)?$/,
    );
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string(), nearly), (text) => {
        const parsed = parseTransactionTime(text);
        expect(parsed === null || !Number.isNaN(parsed.getTime())).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  it.each([
    ['2026-11-20 17:05:12', '2026-11-20T10:05:12.000Z'],
    ['2026-11-20T17:05:12', '2026-11-20T10:05:12.000Z'],
    ['2026-11-20T17:05:12+0700', '2026-11-20T10:05:12.000Z'],
    ['2026-11-20T17:05:12+07', '2026-11-20T10:05:12.000Z'],
    ['2026-11-20T10:05:12,5Z', '2026-11-20T10:05:12.500Z'],
    ['2026-11-20T10:05:12.123456789Z', '2026-11-20T10:05:12.123Z'],
    ['2026-11-20T10:05Z', '2026-11-20T10:05:00.000Z'],
    ['20261120T1005Z', '2026-11-20T10:05:00.000Z'],
    ['2026-11-20T10Z', '2026-11-20T10:00:00.000Z'],
    ['2026-11-20', '2026-11-19T17:00:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['2026-11-20T24:00:00Z', '2026-11-21T00:00:00.000Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
    ['2026-11-20T23:05:12-12:00', '2026-11-21T11:05:12.000Z'],
  ])('reads %s as %s', (text, expected) => {
    expect(parseTransactionTime(text)?.toISOString()).toBe(expected);
  });

  it.each([
    '',
    ' ',
    'yesterday',
    '1763600000',
    '2026-02-30 10:00:00',
    '2025-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-11-20T25:00:00Z',
    '2026-11-20T24:00:01Z',
    '2026-11-20T10:60:00Z',
    '2026-11-20T10:05:61Z',
    '2026-11-20T10:05:12+15:00',
    '2026-11-20T10:05:12+07:60',
    '2026-11-20 17:05:12Z',
    '2026-11-20 17:05',
    '2026-1120T10:05:12Z',
    '2026-11-20T1005:12Z',
    '2026-11-20T10:05:12Z\n',
    ' 2026-11-20T10:05:12Z',
    '20 Nov 2026 17:05:12',
    '٢٠٢٦-11-20T10:05:12Z',
    `2026-11-20T10:05:12.${'1'.repeat(64)}Z`,
  ])('%j is no time', (text) => {
    expect(parseTransactionTime(text)).toBeNull();
  });
});
