import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsOptional, isString, Matches, ValidateBy } from 'class-validator';
import { isExistingDate, parseInstant } from '../common/calendar.js';
import { type Language, LANGUAGE_MESSAGE, LANGUAGES } from '../common/languages.js';
import { OptionalText, PhoneNumber, STORABLE, Text, Trim } from '../common/validation/text.decorator.js';
import { WholeNumber } from '../common/validation/whole-number.decorator.js';
import type { ClosedRange } from './shop.entity.js';

const MAX_RANGES = 50;
const MAX_WEBSITE = 2000;
const SLOT_MINUTES = [15, 30, 60];
const CLOSED_RANGES_MESSAGE =
  `closed_ranges should be a list of at most ${MAX_RANGES} ranges {from, to, reason}, with dates from ≤ to ` +
  `and a reason of at most 100 characters or null`;
const PAUSED_UNTIL_MESSAGE =
  'paused_until should be a time with an offset, such as 2026-11-24T10:30:00+07:00, or null';

/** Settings that a request may leave out. A setting that is absent does not change. */
export class OptionalShopSettings {
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
