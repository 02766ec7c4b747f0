import { ValidateBy, type ValidationOptions } from 'class-validator';
import { isDate } from './calendar.js';

/** Validates a date of the calendar, `YYYY-MM-DD`. class-validator's `IsDate` is for `Date` objects. */
export function IsCalendarDate(options?: ValidationOptions): PropertyDecorator {
  const defaultMessage = (): string => '$property should be a date, such as 2026-11-24';
  return ValidateBy({ name: 'isCalendarDate', validator: { validate: isDate, defaultMessage } }, options);
}
