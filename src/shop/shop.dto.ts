import { ApiProperty } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsInt, Max, Min, ValidateBy } from 'class-validator';
import { IsCalendarDate } from '../common/calendar-date.decorator.js';
import { isTimeZone } from '../common/calendar.js';
import { ApiOpeningHours, IsOpeningHours } from './opening-hours.decorator.js';
import type { PickupWindow } from './pickup-windows.js';
import type { OpeningHours, Shop } from './shop.entity.js';

const MAX_CLOSED = 366;
const MAX_LEAD_MINUTES = 7 * 24 * 60;
const MAX_DAYS_AHEAD = 90;

const TIME_ZONE = 'time_zone should be the name of a time zone, such as Asia/Jakarta';
const CLOSED = { message: `closed should be a list of at most ${MAX_CLOSED} dates, such as 2026-12-25` };
const LEAD_MINUTES = { message: `lead_minutes should be a whole number from 0 to ${MAX_LEAD_MINUTES}` };
const DAYS_AHEAD = { message: `days_ahead should be a whole number from 1 to ${MAX_DAYS_AHEAD}` };

const TIME_ZONE_PROPERTY = { description: 'IANA name', example: 'Asia/Jakarta' } as const;
const CLOSED_PROPERTY = {
  type: 'array',
  maxItems: MAX_CLOSED,
  items: { type: 'string', format: 'date' },
  description: 'Dates on which the shop is closed',
  example: ['2026-12-25'],
} as const;
const LEAD_MINUTES_PROPERTY = {
  type: 'integer',
  minimum: 0,
  maximum: MAX_LEAD_MINUTES,
  description: 'Minimum time from an order to its pickup, in minutes',
  example: 120,
} as const;
const DAYS_AHEAD_PROPERTY = {
  type: 'integer',
  minimum: 1,
  maximum: MAX_DAYS_AHEAD,
  description: 'Last day of pickup, counted from today',
  example: 14,
} as const;

/** Body of PUT /api/admin/shop. */
export class ShopDto {
  @ApiProperty(TIME_ZONE_PROPERTY)
  @ValidateBy({ name: 'isTimeZone', validator: { validate: isTimeZone, defaultMessage: () => TIME_ZONE } })
  time_zone!: string;

  @IsOpeningHours()
  hours!: OpeningHours;

  @ApiProperty(CLOSED_PROPERTY)
  @IsCalendarDate({ each: true, ...CLOSED })
  @ArrayMaxSize(MAX_CLOSED, CLOSED)
  @IsArray(CLOSED)
  closed!: string[];

  @ApiProperty(LEAD_MINUTES_PROPERTY)
  @Max(MAX_LEAD_MINUTES, LEAD_MINUTES)
  @Min(0, LEAD_MINUTES)
  @IsInt(LEAD_MINUTES)
  lead_minutes!: number;

  @ApiProperty(DAYS_AHEAD_PROPERTY)
  @Max(MAX_DAYS_AHEAD, DAYS_AHEAD)
  @Min(1, DAYS_AHEAD)
  @IsInt(DAYS_AHEAD)
  days_ahead!: number;
}

/** Part of a day in which an order can be collected. */
export class PickupWindowView implements PickupWindow {
  @ApiProperty({ format: 'date', example: '2026-11-24' })
  readonly date!: string;

  @ApiProperty({ description: 'Local time', example: '07:00' })
  readonly from!: string;

  @ApiProperty({ description: 'Local time; not part of the window', example: '18:00' })
  readonly to!: string;
}

/** Opening hours and pickup times of the shop. */
export class ShopView {
  @ApiProperty(TIME_ZONE_PROPERTY)
  readonly time_zone: string;

  @ApiOpeningHours()
  readonly hours: OpeningHours;

  @ApiProperty(CLOSED_PROPERTY)
  readonly closed: readonly string[];

  @ApiProperty(LEAD_MINUTES_PROPERTY)
  readonly lead_minutes: number;

  @ApiProperty(DAYS_AHEAD_PROPERTY)
  readonly days_ahead: number;

  @ApiProperty({ type: [PickupWindowView], description: 'Windows from which a customer can choose now' })
  readonly pickup: readonly PickupWindow[];

  constructor(shop: Readonly<Shop>, pickup: readonly PickupWindow[]) {
    this.time_zone = shop.timeZone;
    this.hours = shop.hours;
    this.closed = shop.closed;
    this.lead_minutes = shop.leadMinutes;
    this.days_ahead = shop.daysAhead;
    this.pickup = pickup;
  }
}
