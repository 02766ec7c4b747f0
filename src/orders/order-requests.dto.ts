import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, ArrayUnique, IsIn, IsObject, IsOptional, IsUUID } from 'class-validator';
import { Instant, IsCalendarDate } from '../common/calendar.js';
import { failures } from '../common/errors/failures.js';
import { IdempotentRequest } from '../common/http/idempotency.js';
import { BooleanQuery, SearchQuery } from '../common/validation/query.decorators.js';
import { OptionalText, PhoneNumber } from '../common/validation/text.decorator.js';
import { ValidateItems } from '../common/validation/validation.pipe.js';
import { WholeNumber } from '../common/validation/whole-number.js';
import { TRANSACTION_STATUSES, type TransactionStatus } from '../gateway/payment-gateway.js';
import { type Fulfilment, FULFILMENTS } from './order-status.js';

const INVALID_ITEMS = { message: 'items should be a list of 1 to 50 different products' };

export const PRODUCT_GONE = 'product is no longer available';
export const PICKUP_IMPOSSIBLE = 'pickup is not possible at this time';
export const SHOP_CLOSED = 'the shop takes no orders at the moment';

class NewOrderItemDto {
  @WholeNumber({ min: 1, message: 'product_id should be the id of a product', example: 7 })
  product_id!: number;

  @WholeNumber({ min: 1, max: 999, example: 2 })
  quantity!: number;

  /** Price that the customer was shown, in whole rupiah. If the catalog has another price, the order is rejected. */
  @IsOptional()
  @WholeNumber({ min: 0, required: false, example: 185000 })
  price?: number | null;
}

export class CreateOrderDto extends IdempotentRequest {
  @ApiProperty({ type: [NewOrderItemDto] })
  @ValidateItems(NewOrderItemDto)
  @ArrayUnique((item: NewOrderItemDto) => item.product_id, INVALID_ITEMS)
  @IsObject({ each: true, ...INVALID_ITEMS })
  @ArrayMaxSize(50, INVALID_ITEMS)
  @ArrayMinSize(1, INVALID_ITEMS)
  items!: NewOrderItemDto[];

  /** ISO 8601 with an offset: any time in a pickup window of GET /api/shop. */
  @ApiPropertyOptional({ format: 'date-time', example: '2026-11-24T10:30:00+07:00' })
  @IsOptional()
  @Instant({ message: PICKUP_IMPOSSIBLE })
  pickup_at?: Date | null;

  @PhoneNumber({ required: false })
  phone?: string | null;

  @OptionalText({
    maxLength: 500,
    required: false,
    example: 'Please write "Selamat ulang tahun" on it',
  })
  note?: string | null;
}

const MALFORMED_LAST_ID = 'last_id should be the id of an order';

export class OrdersQuery {
  /** Id of the last order of the previous page. */
  @ApiPropertyOptional({ format: 'uuid' })
  @IsOptional()
  @IsUUID('loose', { message: MALFORMED_LAST_ID })
  last_id?: string;
}

/** Description and failures of each endpoint that lists orders. */
export const ORDER_LIST_DOCS = {
  description: 'A page contains up to 50 orders. If a page would be empty, the response is 404.',
  failures: [failures.validation({ last_id: MALFORMED_LAST_ID }), failures.notFound()],
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
    "Part of the customer's name or email, digits of the phone number, or the beginning of the order's id, with or without #; " +
      'case-insensitive',
  )
  q?: string;
}

export class FulfilmentDto {
  @ApiProperty({ enum: FULFILMENTS, example: 'preparing' })
  @IsIn(FULFILMENTS, { message: UNKNOWN_FULFILMENT })
  fulfilment!: Fulfilment;
}
