import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsDate, ValidateBy, type ValidationOptions } from 'class-validator';
import { DateTime, IANAZone } from 'luxon';
import type { Language } from './languages.js';

/** Instants from `start` up to, but not including, `end`. */
export interface TimeRange {
  readonly start: Date;
  readonly end: Date;
}

const DAY_MS = 24 * 60 * 60_000;
/** `YYYY-MM-DD`, from the year 1000 on. */
const DATE = /^[1-9]\d{3}-\d{2}-\d{2}$/;
/** ISO 8601 with an offset. Seconds may be omitted. */
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?(Z|[+-]([01]\d|2[0-3]):?[0-5]\d)$/i;
/** Name of a time zone, but no offset such as `+07:00`. */
const ZONE = /^[A-Za-z][\w+/-]{0,63}$/;

/** Returns true for an existing date in the format `YYYY-MM-DD`, and false for example for 30 February. */
export function isExistingDate(value: unknown): value is string {
  return typeof value === 'string' && DATE.test(value) && DateTime.fromISO(value).isValid;
}

/** Validates a date of the calendar, `YYYY-MM-DD`. class-validator's `IsDate` is for `Date` objects. */
export function IsCalendarDate(options?: ValidationOptions): PropertyDecorator {
  const defaultMessage = (): string => '$property should be a date, such as 2026-11-24';
  return ValidateBy(
    { name: 'isCalendarDate', validator: { validate: isExistingDate, defaultMessage } },
    options,
  );
}

export function isTimeZone(value: unknown): value is string {
  return typeof value === 'string' && ZONE.test(value) && IANAZone.isValidZone(value);
}

/** Parses and validates an ISO 8601 timestamp with an offset. The property is a `Date`. */
export function Instant(options: { readonly message: string }): PropertyDecorator {
  return applyDecorators(
    Transform(({ value }: { value: unknown }) => parseInstant(value) ?? value),
    IsDate(options),
  );
}

function parseInstant(value: unknown): Date | null {
  if (typeof value !== 'string' || !INSTANT.test(value)) return null;
  const instant = DateTime.fromISO(value);
  return instant.isValid ? instant.toJSDate() : null;
}

/** Returns the first instant of a date. Midnight may not exist or may occur twice on a date on which the clocks change. */
export function startOfDay(date: string, zone: string): Date {
  const midnights = parseDate(date, zone).startOf('day').getPossibleOffsets();
  return new Date(Math.min(...midnights.map((midnight) => midnight.toMillis())));
}

/** Returns the time range of a date. Its length differs from 24 hours if the clocks change on the date. */
export function dayRange(date: string, zone: string): TimeRange {
  return { start: startOfDay(date, zone), end: startOfDay(addDays(date, 1), zone) };
}

/** Returns the instant at which the clocks show a time. If the clocks skip the time, returns a later time of the same date. */
export function toInstant(date: string, minutesAfterMidnight: number, zone: string): Date {
  const time = { hour: Math.floor(minutesAfterMidnight / 60), minute: minutesAfterMidnight % 60 };
  return parseDate(date, zone).set(time).toJSDate();
}

/** Returns the minutes from 00:00 to a time `HH:MM`, which may be `24:00`. */
export function toMinutes(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
}

export function toLocalDateAndTime(
  instant: Date,
  zone: string,
): { readonly date: string; readonly time: string } {
  const local = DateTime.fromJSDate(instant, { zone });
  if (!local.isValid) throw new Error(`no local time in ${zone}: ${local.invalidReason}`);
  // Not `toFormat`, which takes several times as long.
  const [date = '', time = ''] = local.toISO().split('T');
  return { date, time: time.slice(0, 5) };
}

export function toLocalDate(instant: Date, zone: string): string {
  return toLocalDateAndTime(instant, zone).date;
}

const DATE_TIME_FORMATS: Readonly<Record<Language, string>> = {
  en: 'cccc, d LLLL yyyy, HH:mm',
  id: "cccc, d LLLL yyyy 'pukul' HH.mm",
};

/** Returns for example `Tuesday, 24 November 2026, 10:30`, or `Selasa, 24 November 2026 pukul 10.30`. */
export function formatDateTime(instant: Date, zone: string, locale: Language): string {
  return DateTime.fromJSDate(instant, { zone }).toFormat(DATE_TIME_FORMATS[locale], { locale });
}

export function addDays(date: string, days: number): string {
  // Not `slice(0, 10)`: the day after 9999-12-31 is +010000-01-01.
  return new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, -'T00:00:00.000Z'.length);
}

export function daysBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / DAY_MS;
}

function parseDate(date: string, zone: string): DateTime<true> {
  const parsed = DateTime.fromISO(date, { zone });
  if (!parsed.isValid) throw new Error(`${date} is not a date`);
  return parsed;
}
