import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';
import { type OpeningHours, type OpeningWindow, type Weekday, WEEKDAYS } from './shop.entity.js';

const MAX_WINDOWS = 5;
/** Time of day from 00:00 to 24:00. A window cannot begin at 24:00, because no time is later. */
const TIME = /^(([01]\d|2[0-3]):[0-5]\d|24:00)$/;

const WINDOWS_SCHEMA = {
  type: 'array',
  maxItems: MAX_WINDOWS,
  items: { type: 'array', minItems: 2, maxItems: 2, items: { type: 'string', example: '07:00' } },
  example: [['07:00', '18:00']],
} as const;

/** Validates the hours of all seven days. The message names the first wrong day. */
export function IsOpeningHours(): PropertyDecorator {
  return applyDecorators(
    ApiProperty({
      type: 'object',
      description: 'Windows of each day of the week, `[from, to]` in local time; `24:00` is the end of a day',
      properties: Object.fromEntries(WEEKDAYS.map((day) => [day, WINDOWS_SCHEMA])),
      required: [...WEEKDAYS],
      selfRequired: true,
    }),
    ValidateBy(
      { name: 'isOpeningHours', validator: { validate: (value) => findInvalidDay(value) === undefined } },
      {
        message: ({ value }) =>
          `hours.${findInvalidDay(value)} should be a list of at most ${MAX_WINDOWS} windows ["HH:MM", "HH:MM"] that do not overlap`,
      },
    ),
  );
}

/** Sorts the windows of each day by time, and drops unknown keys. */
export function normalizeHours(hours: OpeningHours): OpeningHours {
  const days = WEEKDAYS.map((day) => [day, hours[day].toSorted()] as const);
  return Object.fromEntries(days) as Record<Weekday, OpeningWindow[]>;
}

function findInvalidDay(value: unknown): Weekday | undefined {
  const hours = (value ?? {}) as Partial<Record<Weekday, unknown>>;
  return WEEKDAYS.find((day) => !areValidWindows(hours[day]));
}

function areValidWindows(value: unknown): boolean {
  if (!Array.isArray(value) || value.length > MAX_WINDOWS || !value.every(isWindow)) return false;
  // `toSorted` compares windows as the text `from,to`, which orders them by time.
  const windows = value.toSorted();
  return windows.every(([from], index) => from >= (windows[index - 1]?.[1] ?? ''));
}

function isWindow(value: unknown): value is OpeningWindow {
  if (!Array.isArray(value) || value.length !== 2) return false;
  const [from, to] = value as unknown[];
  return typeof from === 'string' && typeof to === 'string' && TIME.test(from) && TIME.test(to) && from < to;
}
