import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsOptional } from 'class-validator';
import { IsCalendarDate } from '../common/calendar.js';
import { BooleanQuery } from '../common/validation/query.decorators.js';
import { ListedProductView, ProductListQuery, type ProductWithUrls } from './products.dto.js';

export const INVALID_UNTIL = 'until should be a date after today, such as 2026-11-24';
export const UNTIL_NOT_ALLOWED = 'until needs available to be false';

export class AvailabilityDto {
  @ApiProperty({ example: false })
  @IsBoolean({ message: 'available should be true or false' })
  available!: boolean;

  /** Date after today from which the product is available again; only with `available: false` */
  @ApiPropertyOptional({ format: 'date', example: '2026-11-24' })
  @IsOptional()
  @IsCalendarDate({ message: INVALID_UNTIL })
  until?: string;
}

export class AdminProductsQuery extends ProductListQuery {
  @BooleanQuery('`true`: only available products; `false`: only unavailable products')
  available?: boolean;
}

export class AdminProductView extends ListedProductView {
  /** If false, customers can neither see nor order the product */
  @ApiProperty({ example: false })
  readonly available: boolean;

  /** Date from which an unavailable product is available again, if one was set */
  @ApiProperty({ format: 'date', example: '2026-11-24' })
  readonly unavailable_until: string | null;

  constructor(product: ProductWithUrls) {
    super(product);
    this.available = product.isAvailable;
    this.unavailable_until = product.isAvailable ? null : product.unavailableUntil;
  }
}
