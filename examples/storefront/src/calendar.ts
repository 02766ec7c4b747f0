import { useSyncExternalStore } from 'react';
import { getTimeZone } from './api/shop';
import { getLocale, t } from './i18n';

// All dates and times are those of the shop's time zone.

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

// `Date.parse` reads a date as its midnight in UTC.
const WEEKDAY_AND_DATE = { weekday: 'long', day: 'numeric', month: 'long', timeZone: 'UTC' } as const;
const SHORT_DATE = { day: 'numeric', month: 'short', timeZone: 'UTC' } as const;

/** Returns the date of an instant: `2026-11-24` */
export function toLocalDate(instant: Date | string): string {
  const ms = new Date(instant).getTime();
  return new Date(ms + getOffsetMs(ms)).toISOString().slice(0, 10);
}

/** Returns the current date. An open page is rendered again after midnight. */
export function useToday(): string {
  return useSyncExternalStore(subscribeToMinutes, () => toLocalDate(new Date()));
}

function subscribeToMinutes(listener: () => void) {
  const timer = setInterval(listener, MINUTE_MS);
  return () => clearInterval(timer);
}

export function addDays(date: string, days: number): string {
  return new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, 10);
}

/** Lists consecutive dates. */
export function listDates(first: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => addDays(first, index));
}

/** Returns true for an existing date in the format `2026-11-24`. */
export function isDate(text: string): boolean {
  const isWellFormed = /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
  // Some browsers read 30 February as 2 March.
  return isWellFormed && addDays(text, 0) === text;
}

/** Formats a date: `Tuesday 24 November` */
export function formatDate(date: string): string {
  const text = getFormat(getLocale(), WEEKDAY_AND_DATE).format(Date.parse(date));
  // In English, some browsers write a comma after the weekday.
  return getLocale() === 'en-GB' ? text.replace(',', '') : text;
}

/** Formats a date: `Tuesday 24 November 2026` */
export function formatDateWithYear(date: string): string {
  return `${formatDate(date)} ${date.slice(0, 4)}`;
}

/** Formats a date for small spaces: `24 Nov` */
export function formatShortDate(date: string): string {
  return getFormat(getLocale(), SHORT_DATE).format(Date.parse(date));
}

/** Formats a date as seen from today: `Today`, `Tomorrow` or `Tuesday 24 November` */
export function formatDay(date: string, today: string): string {
  if (date === today) return t('today');
  return date === addDays(today, 1) ? t('tomorrow') : formatDate(date);
}

/** Formats the time of an instant: `14:30` */
export function formatTime(iso: string): string {
  return getFormat(getLocale(), { timeZone: getTimeZone(), timeStyle: 'short' }).format(new Date(iso));
}

/** Formats an instant: `24 Nov 2026, 14:30` */
export function formatDateAndTime(iso: string): string {
  const options = { timeZone: getTimeZone(), dateStyle: 'medium', timeStyle: 'short' } as const;
  return getFormat(getLocale(), options).format(new Date(iso));
}

/** Formats an instant: `Tuesday 24 November, 14:30`, or only `14:30` if its date is `today`. */
export function formatDayAndTime(iso: string, today?: string): string {
  const date = toLocalDate(iso);
  const time = formatTime(iso);
  return date === today ? time : t('dateAndTime', { date: formatDate(date), time });
}

/** Lists the times in a window that are multiples of an interval in minutes. The end of the window is excluded. */
export function listTimes({ from, to }: { from: string; to: string }, interval: number): string[] {
  const first = Math.ceil(toMinutes(from) / interval) * interval;
  const count = Math.max(0, Math.ceil((toMinutes(to) - first) / interval));
  return Array.from({ length: count }, (_, index) => toTime(first + index * interval));
}

/** Converts a date and a time of the shop: `2026-11-24`, `14:30` */
export function toInstant(date: string, time: string): Date {
  const asUtc = Date.parse(`${date}T${time}Z`);
  // Close to a change of daylight saving time, the guess can be off by an hour, but the offset at the guess is correct.
  const guess = asUtc - getOffsetMs(asUtc);
  return new Date(asUtc - getOffsetMs(guess));
}

function getOffsetMs(instant: number): number {
  const format = getFormat('en-US', { timeZone: getTimeZone(), timeZoneName: 'longOffset' });
  const name = format.formatToParts(instant).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  // The name is `GMT+07:00`, or `GMT` if there is no offset.
  const [, sign, hours = '0', minutes = '0'] = /([+-])(\d+):(\d+)/.exec(name) ?? [];
  const offset = (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
  return sign === '-' ? -offset : offset;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns a cached format. A page with all pickup times would otherwise create hundreds of formats, which is slow. */
function getFormat(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify([locale, options]);
  const format = formats.get(key) ?? new Intl.DateTimeFormat(locale, options);
  formats.set(key, format);
  return format;
}

function toMinutes(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

function toTime(minutes: number): string {
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  return `${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`;
}
