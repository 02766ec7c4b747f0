import { ApiProperty, ApiPropertyOptional, PickType } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import { IsCalendarDate } from '../common/calendar.js';
import { AdminOrderView } from '../orders/order.dto.js';

export class DayParams {
  @ApiProperty({ format: 'date', example: '2026-11-24' })
  @IsCalendarDate()
  date!: string;
}

export class SalesQuery {
  @ApiProperty({ format: 'date', example: '2026-11-01' })
  @IsCalendarDate()
  from!: string;

  @ApiProperty({ format: 'date', example: '2026-11-30', description: 'The range has at most 366 days' })
  @IsCalendarDate()
  to!: string;
}

export class SalesCsvQuery extends SalesQuery {
  /** `excel`: with a byte order mark, and semicolons between the cells. */
  @ApiPropertyOptional({ enum: ['excel'] })
  @IsOptional()
  @IsIn(['excel'], { message: 'format should be excel' })
  format?: 'excel';
}

export class DayProductView {
  @ApiProperty({ type: 'integer', example: 7 })
  readonly product_id!: number;

  @ApiProperty({ description: 'As last sold', example: 'Kue lapis legit' })
  readonly name!: string;

  @ApiProperty({ type: 'integer', description: 'Pieces in all orders of the report', example: 12 })
  quantity!: number;

  @ApiProperty({ type: 'integer', description: 'Pieces in orders that are new or preparing', example: 4 })
  open!: number;
}

export class DayView {
  @ApiProperty({ format: 'date', example: '2026-11-24' })
  readonly date!: string;

  @ApiProperty({ type: [DayProductView], description: 'By name' })
  readonly products!: DayProductView[];

  /** By pickup time; orders without a pickup time come last */
  readonly orders!: AdminOrderView[];

  /** Today: paid orders of the past 30 days, neither collected nor refused, oldest first. Otherwise empty */
  readonly overdue!: AdminOrderView[];
}

class SalesTotalView {
  @ApiProperty({ type: 'integer', example: 41 })
  readonly orders!: number;

  @ApiProperty({ type: 'integer', description: 'Whole rupiah, without what was refunded', example: 7585000 })
  readonly revenue!: number;
}

class SalesDayView extends SalesTotalView {
  @ApiProperty({ format: 'date', example: '2026-11-24' })
  readonly date!: string;
}

class SalesProductView extends PickType(DayProductView, ['product_id', 'name', 'quantity']) {
  /** Whole rupiah: the sum of price × quantity. Partial refunds are not deducted. */
  @ApiProperty({ type: 'integer', example: 7585000 })
  readonly revenue!: number;
}

export class SalesView {
  readonly total!: SalesTotalView;

  @ApiProperty({ type: [SalesDayView], description: 'Every day of the range' })
  readonly days!: readonly SalesDayView[];

  @ApiProperty({ type: [SalesProductView], description: 'By revenue, the largest first' })
  readonly products!: readonly SalesProductView[];
}
