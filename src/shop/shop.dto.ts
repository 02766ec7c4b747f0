import { ApiProperty, IntersectionType, PartialType } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsIn, IsOptional, isString, Matches, ValidateBy } from 'class-validator';
import { IsCalendarDate, isExistingDate, isTimeZone, parseInstant } from '../common/calendar.js';
import { type Language, LANGUAGE_MESSAGE, LANGUAGES } from '../common/languages.js';
import { OptionalText, PhoneNumber, STORABLE, Text, Trim } from '../common/validation/text.decorator.js';
import { WholeNumber } from '../common/validation/whole-number.decorator.js';
import { IsOpeningHours } from './opening-hours.decorator.js';
import type { ClosedRange, OpeningHours } from './shop.entity.js';

const MAX_RANGES = 50;
const MAX_WEBSITE = 2000;
const SLOT_MINUTES = [15, 30, 60];
const CLOSED_RANGES_MESSAGE =
  `closed_ranges should be a list of at most ${MAX_RANGES} ranges {from, to, reason}, with dates from ≤ to ` +
  `and a reason of at most 100 characters or null`;
const PAUSED_UNTIL_MESSAGE =
  'paused_until should be a time with an offset, such as 2026-11-24T10:30:00+07:00, or null';
const MAX_CLOSED = 366;
const TIME_ZONE = 'time_zone should be the name of a time zone, such as Asia/Jakarta';
const CLOSED = { message: `closed should be a list of at most ${MAX_CLOSED} dates, such as 2026-12-25` };

/** Settings that a request may leave out. A setting that is absent does not change. */
class OptionalShopSettings {
  @Text({ maxLength: 100, isSingleLine: true, example: 'Roti Pagi' })
  name!: string;

  @OptionalText({ maxLength: 300, blank: null, example: 'Jl. Kemang Raya 12, Jakarta Selatan' })
  address!: string | null;

  @PhoneNumber({ blank: null })
  phone!: string | null;

  @PhoneNumber({ blank: null })
  whatsapp!: string | null;

  @ApiProperty({ format: 'uri', maxLength: MAX_WEBSITE, example: 'http://localhost:8080' })
  @Trim({ blank: null })
  @IsOptional()
  @ValidateBy({
    name: 'isWebsite',
    validator: { validate: isWebsite, defaultMessage: () => 'website should be an http or https URL' },
  })
  website!: string | null;

  /** Language of customers who have chosen none. */
  @ApiProperty({ enum: LANGUAGES, example: 'en' })
  @IsIn(LANGUAGES, { message: LANGUAGE_MESSAGE })
  language!: Language;

  /** Ranges of dates on which the shop is closed. A range includes both dates. */
  @ApiProperty({
    type: 'array',
    maxItems: MAX_RANGES,
    items: {
      type: 'object',
      properties: {
        from: { type: 'string', format: 'date' },
        to: { type: 'string', format: 'date' },
        reason: { type: 'string', nullable: true, maxLength: 100 },
      },
      required: ['from', 'to', 'reason'],
    },
    example: [{ from: '2027-03-09', to: '2027-03-12', reason: 'Lebaran' }],
  })
  @ValidateBy({
    name: 'areClosedRanges',
    validator: { validate: areClosedRanges, defaultMessage: () => CLOSED_RANGES_MESSAGE },
  })
  closed_ranges!: readonly ClosedRange[];

  /** An order must be placed before this time on the day before its pickup. */
  @ApiProperty({ type: String, nullable: true, example: '20:00' })
  @IsOptional()
  @Matches(/^([01]\d|2[0-3]):[0-5]\d$/, { message: 'cut_off should be a time HH:MM, such as 20:00, or null' })
  cut_off!: string | null;

  /** Length of a slot in minutes. The first slot begins with its opening window. Used only with `orders_per_slot`. */
  @ApiProperty({ type: 'integer', nullable: true, enum: [...SLOT_MINUTES, null], example: null })
  @IsOptional()
  @IsIn(SLOT_MINUTES, { message: 'slot_minutes should be 15, 30, 60 or null' })
  slot_minutes!: number | null;

  /** Maximum number of paid or open orders whose pickup is in the same slot. */
  @IsOptional()
  @WholeNumber({ min: 1, max: 999, example: null })
  orders_per_slot!: number | null;

  /** The shop takes no orders until this time: ISO 8601 with an offset. */
  @ApiProperty({ type: String, nullable: true, format: 'date-time', example: null })
  @IsOptional()
  @ValidateBy({
    name: 'isInstant',
    validator: {
      validate: (value) => parseInstant(value) !== null,
      defaultMessage: () => PAUSED_UNTIL_MESSAGE,
    },
  })
  paused_until!: string | null;
}

class RequiredShopSettings {
  @ApiProperty({ description: 'IANA name', example: 'Asia/Jakarta' })
  @ValidateBy({ name: 'isTimeZone', validator: { validate: isTimeZone, defaultMessage: () => TIME_ZONE } })
  time_zone!: string;

  @IsOpeningHours()
  hours!: OpeningHours;

  /** Dates on which the shop is closed. */
  @ApiProperty({ type: [String], format: 'date', maxItems: MAX_CLOSED, example: ['2026-12-25'] })
  @IsCalendarDate({ each: true, ...CLOSED })
  @ArrayMaxSize(MAX_CLOSED, CLOSED)
  @IsArray(CLOSED)
  closed!: string[];

  /** Minimum time from an order to its pickup, in minutes. */
  @WholeNumber({ min: 0, max: 7 * 24 * 60, example: 120 })
  lead_minutes!: number;

  /** Days from today to the last day on which an order can be collected. */
  @WholeNumber({ min: 1, max: 90, example: 14 })
  days_ahead!: number;
}

/**
 * Settings in a request. The optional ones come first: an input with too many values is cut off at its end, where a missing
 * value is a failure.
 */
export class ShopDto extends IntersectionType(
  PartialType(OptionalShopSettings, { skipNullProperties: false }),
  RequiredShopSettings,
) {}

export class PickupWindowView {
  @ApiProperty({ format: 'date', example: '2026-11-24' })
  readonly date!: string;

  @ApiProperty({ description: 'Local time', example: '07:00' })
  readonly from!: string;

  @ApiProperty({ description: 'Local time; not part of the window', example: '18:00' })
  readonly to!: string;
}

export class ShopView extends IntersectionType(RequiredShopSettings, OptionalShopSettings) {
  @ApiProperty({ type: [PickupWindowView], description: 'Windows from which a customer can choose now' })
  pickup!: readonly PickupWindowView[];
}

class PaidOrdersView {
  @ApiProperty({ format: 'date', example: '2026-12-25' })
  readonly date!: string;

  @ApiProperty({ type: 'integer', example: 44 })
  readonly orders!: number;
}

export class AdminShopView extends ShopView {
  @ApiProperty({ type: [PaidOrdersView], description: 'Closed dates for which paid orders are due' })
  paid_orders!: readonly PaidOrdersView[];
}

/** Keeps the known fields of each range, and sorts the ranges by date. */
export function normalizeRanges(ranges: readonly ClosedRange[]): ClosedRange[] {
  return ranges
    .map(({ from, to, reason }) => ({ from, to, reason: (reason ?? '').trim() || null }))
    .sort((a, b) => (a.from + a.to < b.from + b.to ? -1 : 1));
}

function isWebsite(value: unknown): boolean {
  if (typeof value !== 'string' || value.length > MAX_WEBSITE) return false;
  return /^https?:\/\/[^\s\p{C}]+$/iu.test(value) && URL.canParse(value);
}

function areClosedRanges(value: unknown): boolean {
  return Array.isArray(value) && value.length <= MAX_RANGES && value.every(isClosedRange);
}

function isClosedRange(value: unknown): boolean {
  const { from, to, reason = null } = (value ?? {}) as Record<string, unknown>;
  const text = typeof reason === 'string' ? reason.trim() : reason;
  const isReason = text === null || (isString(text) && /^.{0,100}$/su.test(text) && STORABLE.test(text));
  return isExistingDate(from) && isExistingDate(to) && from <= to && isReason;
}
