import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsIn, IsInt, IsOptional, IsString, Matches, Max, Min, ValidateBy } from 'class-validator';
import { isExistingDate, parseInstant } from '../common/calendar.js';
import { type Language, LANGUAGE_MESSAGE, LANGUAGES } from '../common/languages.js';
import { MaxCharacters, STORABLE, Text } from '../common/validation/text.decorator.js';
import type { ClosedRange } from './shop.entity.js';

const MAX_RANGES = 50;
const SLOT_MINUTES = [15, 30, 60];
const ORDERS_PER_SLOT = { message: 'orders_per_slot should be a whole number from 1 to 999' };
const RANGES =
  `closed_ranges should be a list of at most ${MAX_RANGES} ranges {from, to, reason}, with dates from ≤ to ` +
  `and a reason of at most 100 characters or null`;
const PAUSE = 'paused_until should be a time with an offset, such as 2026-11-24T10:30:00+07:00, or null';

/** Trims an optional text. A blank text becomes null. */
function TrimToNull(): PropertyDecorator {
  return applyDecorators(
    Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.trim() || null : value)),
    IsOptional(),
  );
}

function PhoneNumber(): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ type: String, nullable: true, minLength: 5, maxLength: 32, example: '+62 812-3456-7890' }),
    TrimToNull(),
    Matches(/^[0-9 +\-().]{5,32}$/, { message: '$property should be a phone number' }),
  );
}

/** Public details of the shop, and settings of 1.3. */
export class ShopDetails {
  @Text({ maxLength: 100, isSingleLine: true, example: 'Roti Pagi' })
  name!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    maxLength: 300,
    example: 'Jl. Kemang Raya 12, Jakarta Selatan',
  })
  @TrimToNull()
  @MaxCharacters(300, { message: 'address can have 300 characters at max' })
  @Matches(STORABLE, { message: 'address contains a character that is not allowed' })
  @IsString({ message: 'address should be a text' })
  address!: string | null;

  @PhoneNumber()
  phone!: string | null;

  @PhoneNumber()
  whatsapp!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    format: 'uri',
    maxLength: 2000,
    example: 'http://localhost:8080',
  })
  @TrimToNull()
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
    validator: { validate: areClosedRanges, defaultMessage: () => RANGES },
  })
  closed_ranges!: readonly ClosedRange[];

  /** A pickup must be ordered before this time of the day before. */
  @ApiProperty({ type: String, nullable: true, example: '20:00' })
  @IsOptional()
  @Matches(/^([01]\d|2[0-3]):[0-5]\d$/, { message: 'cut_off should be a time HH:MM, such as 20:00, or null' })
  cut_off!: string | null;

  /** Length of a slot, counted from the start of its opening window. Used only together with `orders_per_slot`. */
  @ApiProperty({ type: 'integer', nullable: true, enum: [...SLOT_MINUTES, null], example: null })
  @IsOptional()
  @IsIn(SLOT_MINUTES, { message: 'slot_minutes should be 15, 30, 60 or null' })
  slot_minutes!: number | null;

  /** Number of paid or open orders with a pickup in the same slot at which the slot is full. */
  @ApiProperty({ type: 'integer', nullable: true, minimum: 1, maximum: 999, example: null })
  @IsOptional()
  @Max(999, ORDERS_PER_SLOT)
  @Min(1, ORDERS_PER_SLOT)
  @IsInt(ORDERS_PER_SLOT)
  orders_per_slot!: number | null;

  /** The shop takes no orders until this time: ISO 8601 with an offset. */
  @ApiProperty({ type: String, nullable: true, format: 'date-time', example: null })
  @IsOptional()
  @ValidateBy({
    name: 'isInstant',
    validator: { validate: (value) => parseInstant(value) !== null, defaultMessage: () => PAUSE },
  })
  paused_until!: string | null;
}

/** Keeps the known fields of each range, and sorts the ranges by date. */
export function normalizeRanges(ranges: readonly ClosedRange[]): ClosedRange[] {
  return ranges
    .map(({ from, to, reason }) => ({
      from,
      to,
      reason: reason?.trim() === '' ? null : (reason?.trim() ?? null),
    }))
    .sort((a, b) => (a.from + a.to < b.from + b.to ? -1 : 1));
}

function isWebsite(value: unknown): boolean {
  return typeof value === 'string' && /^https?:\/\/[^\s\p{C}]{1,1900}$/iu.test(value) && URL.canParse(value);
}

function areClosedRanges(value: unknown): boolean {
  return Array.isArray(value) && value.length <= MAX_RANGES && value.every(isClosedRange);
}

function isClosedRange(value: unknown): boolean {
  const { from, to, reason = null } = (value ?? {}) as Record<string, unknown>;
  const isReason = reason === null || (typeof reason === 'string' && /^.{0,100}$/su.test(reason));
  return (
    isExistingDate(from) && isExistingDate(to) && from <= to && isReason && STORABLE.test(String(reason))
  );
}
