import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { Allow, IsIn, IsOptional, isUUID, IsUUID } from 'class-validator';
import { IsCalendarDate } from '../common/calendar.js';
import { failures } from '../common/errors/failures.js';
import { BooleanQuery, SearchQuery } from '../common/validation/query.decorators.js';
import { TRANSACTION_STATUSES, type TransactionStatus } from '../gateway/payment-gateway.js';
import { type Fulfilment, FULFILMENTS } from './order-status.js';

const UNKNOWN_LAST_ID = 'last_id should be the id of an order';

export class OrdersQuery {
  /** Id of the last order of the previous page. */
  @ApiPropertyOptional({ format: 'uuid' })
  @IsOptional()
  @IsUUID('loose', { message: UNKNOWN_LAST_ID })
  last_id?: string;
}

/** Description and failures of each endpoint that lists orders. */
export const ORDER_LIST_DOCS = {
  description: 'A page contains up to 50 orders. If a page would be empty, the response is 404.',
  failures: [failures.validation({ last_id: UNKNOWN_LAST_ID }), failures.notFound()],
};

export const UNKNOWN_FULFILMENT = `fulfilment should be one of ${FULFILMENTS.join(', ')}`;

export class AdminOrdersQuery extends OrdersQuery {
  @ApiPropertyOptional({ enum: TRANSACTION_STATUSES })
  @IsOptional()
  @IsIn(TRANSACTION_STATUSES, { message: `status should be one of ${TRANSACTION_STATUSES.join(', ')}` })
  status?: TransactionStatus;

  @ApiPropertyOptional({ enum: FULFILMENTS })
  @IsOptional()
  @IsIn(FULFILMENTS, { message: UNKNOWN_FULFILMENT })
  fulfilment?: Fulfilment;

  @BooleanQuery('true: only orders that are paid and not refunded in full; false: only other orders')
  paid?: boolean;

  /** Orders with `refund_due`: refused orders that are paid, and orders with a surplus. */
  @ApiPropertyOptional({ enum: ['due'] })
  @IsOptional()
  @IsIn(['due'], { message: 'refund should be due' })
  refund?: 'due';

  /** Orders with a pickup time on this date, sorted by pickup time. */
  @ApiPropertyOptional({ format: 'date', example: '2026-11-24' })
  @IsOptional()
  @IsCalendarDate()
  pickup?: string;

  @SearchQuery(
    "Part of the customer's name or email, digits of the phone number, or the beginning of the order's id, also after #; " +
      'case-insensitive',
  )
  q?: string;
}

export class FulfilmentDto {
  @ApiProperty({ enum: FULFILMENTS, example: 'preparing' })
  @IsIn(FULFILMENTS, { message: UNKNOWN_FULFILMENT })
  fulfilment!: Fulfilment;
}

const NIL_UUID = '00000000-0000-0000-0000-000000000000';

export class OrderParams {
  @ApiProperty({ format: 'uuid' })
  // Other text becomes the nil UUID, which no order has.
  @Transform(({ value }: { value: string }) => (isUUID(value, 'loose') ? value.toLowerCase() : NIL_UUID))
  @Allow()
  order_id!: string;
}
