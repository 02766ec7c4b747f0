const DATE = /(?<year>\d{4})(?<dash>-?)(?<month>\d\d)\k<dash>(?<day>\d\d)/;
const CLOCK =
  /(?<hour>\d\d)(?:(?<colon>:?)(?<minute>\d\d)(?:\k<colon>(?<second>\d\d)(?:[.,](?<fraction>\d+))?)?)?/;
const OFFSET = /Z|[+-]\d\d(?::?\d\d)?/;
/** Calendar date and time of ISO 8601, extended (with `-` and `:`) or basic. */
const ISO_8601 = new RegExp(`^${DATE.source}(?:T${CLOCK.source}(?<offset>${OFFSET.source})?)?$`);
const GATEWAY_FORM = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)$/;
/** The gateway writes Jakarta time without saying so. */
const GATEWAY_OFFSET = '+07:00';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** No place on earth is further from Greenwich. */
const MAX_OFFSET_MS = 14 * HOUR_MS;

/**
 * Reads a transaction_time: ISO 8601, or the gateway's own `YYYY-MM-DD HH:MM:SS`; GMT+7 where no offset is given.
 * @returns null when it is no time, or one that no calendar has
 */
export function parseTransactionTime(text: string): Date | null {
  if (text.length > 64) return null;
  const parts = ISO_8601.exec(text.replace(GATEWAY_FORM, '$1T$2'))?.groups;
  if (parts === undefined) return null;
  const number = (name: string): number => Number(parts[name] ?? 0);

  const midnight = new Date(0);
  midnight.setUTCFullYear(number('year'), number('month') - 1, number('day'));
  // A day that its month does not have would have spilled over into the next one.
  const isInCalendar =
    midnight.getUTCMonth() + 1 === number('month') && midnight.getUTCDate() === number('day');

  const milliseconds = Number((parts.fraction ?? '').slice(0, 3).padEnd(3, '0'));
  const timeOfDay =
    number('hour') * HOUR_MS + number('minute') * MINUTE_MS + number('second') * 1000 + milliseconds;
  // 24:00 is midnight at the end of the day, second 60 a leap second.
  const isOnClock =
    (number('hour') <= 23 || timeOfDay === 24 * HOUR_MS) && number('minute') <= 59 && number('second') <= 60;

  const offset = offsetOf(parts.offset ?? GATEWAY_OFFSET);
  return isInCalendar && isOnClock && offset !== null
    ? new Date(midnight.getTime() + timeOfDay - offset)
    : null;
}

/** Milliseconds east of Greenwich. */
function offsetOf(offset: string): number | null {
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(offset) ?? [];
  const distance = Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS;
  if (Number(minutes) > 59 || distance > MAX_OFFSET_MS) return null;
  return sign === '-' ? -distance : distance;
}
