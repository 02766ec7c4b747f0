import { ApiProperty, IntersectionType, PartialType } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, ValidateBy } from 'class-validator';
import { IsCalendarDate, isTimeZone } from '../common/calendar.js';
import { WholeNumber } from '../common/validation/whole-number.decorator.js';
import { IsOpeningHours } from './opening-hours.decorator.js';
import { OptionalShopSettings } from './optional-shop-settings.dto.js';
import type { OpeningHours } from './shop.entity.js';

const MAX_CLOSED = 366;
const TIME_ZONE = 'time_zone should be the name of a time zone, such as Asia/Jakarta';
const CLOSED = { message: `closed should be a list of at most ${MAX_CLOSED} dates, such as 2026-12-25` };

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
