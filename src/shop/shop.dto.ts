import { ApiProperty, IntersectionType, PartialType } from '@nestjs/swagger';
import { ArrayMaxSize, IsIn, IsOptional, Matches, ValidateBy } from 'class-validator';
import { Instant, IsCalendarDate, isTimeZone } from '../common/calendar.js';
import { type Language, LANGUAGES, UNKNOWN_LANGUAGE } from '../common/languages.js';
import { OptionalText, PhoneNumber, Text, Trim } from '../common/validation/text.decorator.js';
import { WholeNumber } from '../common/validation/whole-number.js';
import { IsClosedRanges, normalizeRanges } from './closed-ranges.decorator.js';
import { IsOpeningHours, normalizeHours } from './opening-hours.decorator.js';
import type { ClosedRange, OpeningHours, Shop } from './shop.entity.js';

const MAX_WEBSITE_LENGTH = 2000;
const SLOT_MINUTES = [15, 30, 60];
const MAX_CLOSED_DATES = 366;

const INVALID_WEBSITE = { message: 'website should be an http or https URL' };
const INVALID_CUT_OFF = { message: 'cut_off should be a time HH:MM, such as 20:00, or null' };
const INVALID_PAUSED_UNTIL = {
  message: 'paused_until should be a time with an offset, such as 2026-11-24T10:30:00+07:00, or null',
};
const INVALID_TIME_ZONE = { message: 'time_zone should be the name of a time zone, such as Asia/Jakarta' };
const INVALID_CLOSED = {
  message: `closed should be a list of at most ${MAX_CLOSED_DATES} dates, such as 2026-12-25`,
};

/**
 * Settings that a request may leave out. A setting that is absent does not change. In a request, `PartialType` allows absence;
 * `IsOptional` on a field allows null.
 */
class OptionalShopSettings {
  @Text({ maxLength: 100, isSingleLine: true, example: 'Roti Pagi' })
  name!: string;

  @OptionalText({ maxLength: 300, example: 'Jl. Kemang Raya 12, Jakarta Selatan' })
  address!: string | null;

  @PhoneNumber()
  phone!: string | null;

  @PhoneNumber()
  whatsapp!: string | null;

  @ApiProperty({ format: 'uri', maxLength: MAX_WEBSITE_LENGTH, example: 'http://localhost:8080' })
  @Trim({ ifBlank: '' })
  @IsOptional()
  @ValidateBy({ name: 'isWebsite', validator: { validate: isWebsite } }, INVALID_WEBSITE)
  website!: string | null;

  /** Language of customers who have chosen none. */
  @ApiProperty({ enum: LANGUAGES, example: 'en' })
  @IsIn(LANGUAGES, { message: UNKNOWN_LANGUAGE })
  language!: Language;

  /** Ranges of dates on which the shop is closed. A range includes both dates. */
  @IsClosedRanges()
  closed_ranges!: readonly ClosedRange[];

  /** An order must be placed before this time on the day before its pickup. */
  @ApiProperty({ example: '20:00' })
  @IsOptional()
  @Matches(/^([01]\d|2[0-3]):[0-5]\d$/, INVALID_CUT_OFF)
  cut_off!: string | null;

  /** Length of a slot in minutes. Slots divide each opening window from its start. Used only with `orders_per_slot`. */
  @ApiProperty({ type: 'integer', enum: [...SLOT_MINUTES, null], example: null })
  @IsOptional()
  @IsIn(SLOT_MINUTES, { message: 'slot_minutes should be 15, 30, 60 or null' })
  slot_minutes!: number | null;

  /** Maximum number of paid or open orders whose pickup is in the same slot. */
  @IsOptional()
  @WholeNumber({ min: 1, max: 999, example: null })
  orders_per_slot!: number | null;

  /** The shop takes no orders until this time: ISO 8601 with an offset. */
  @ApiProperty({ format: 'date-time', example: null })
  @IsOptional()
  @Instant(INVALID_PAUSED_UNTIL)
  paused_until!: Date | null;
}

/** Settings that every request must contain. */
class RequiredShopSettings {
  @ApiProperty({ description: 'IANA name', example: 'Asia/Jakarta' })
  @ValidateBy({ name: 'isTimeZone', validator: { validate: isTimeZone } }, INVALID_TIME_ZONE)
  time_zone!: string;

  @IsOpeningHours()
  hours!: OpeningHours;

  /** Dates on which the shop is closed. */
  @ApiProperty({ type: [String], format: 'date', maxItems: MAX_CLOSED_DATES, example: ['2026-12-25'] })
  @IsCalendarDate({ each: true, ...INVALID_CLOSED })
  @ArrayMaxSize(MAX_CLOSED_DATES, INVALID_CLOSED)
  closed!: string[];

  /** Minimum time from an order to its pickup, in minutes. */
  @WholeNumber({ min: 0, max: 7 * 24 * 60, example: 120 })
  lead_minutes!: number;

  /** Days from today to the last day on which an order can be collected. */
  @WholeNumber({ min: 1, max: 90, example: 14 })
  days_ahead!: number;
}

/** Settings in a request. */
export class ShopDto extends IntersectionType(
  RequiredShopSettings,
  PartialType(OptionalShopSettings, { skipNullProperties: false }),
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
  readonly pickup!: readonly PickupWindowView[];
}

export class PaidOrdersView {
  @ApiProperty({ format: 'date', example: '2026-12-25' })
  readonly date!: string;

  @ApiProperty({ type: 'integer', example: 44 })
  readonly orders!: number;
}

export class AdminShopView extends ShopView {
  @ApiProperty({ type: [PaidOrdersView], description: 'Closed dates for which paid orders are due' })
  readonly paid_orders!: readonly PaidOrdersView[];
}

/**
 * Returns the settings in one form: the known keys alone, with sorted lists and keys. Equal settings must have the same ETag, and
 * `jsonb` does not keep the order of keys. The result may be sent to everyone, because no setting is secret.
 */
export function normalizeSettings(shop: Omit<Shop, 'id'>): Omit<Shop, 'id'> {
  return {
    name: shop.name,
    address: shop.address,
    phone: shop.phone,
    whatsapp: shop.whatsapp,
    website: shop.website,
    language: shop.language,
    time_zone: shop.time_zone,
    hours: normalizeHours(shop.hours),
    closed: [...new Set(shop.closed)].sort(),
    closed_ranges: normalizeRanges(shop.closed_ranges),
    lead_minutes: shop.lead_minutes,
    days_ahead: shop.days_ahead,
    cut_off: shop.cut_off,
    slot_minutes: shop.slot_minutes,
    orders_per_slot: shop.orders_per_slot,
    paused_until: shop.paused_until,
  };
}

function isWebsite(value: unknown): boolean {
  if (typeof value !== 'string' || value.length > MAX_WEBSITE_LENGTH) return false;
  return /^https?:\/\/[^\s\p{C}]+$/iu.test(value) && URL.canParse(value);
}
