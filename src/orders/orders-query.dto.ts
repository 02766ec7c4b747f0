import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, isUUID, IsUUID } from 'class-validator';
import { failures } from '../common/errors.js';
import { SearchQuery } from '../common/search-query.decorator.js';
import { type Fulfilment, FULFILMENTS } from './fulfilment.js';
import { ORDER_STATUSES, type OrderStatus } from './order-status.js';

/** Query of a list of orders. */
export class OrdersQuery {
  /** The last order of the page before. */
  @ApiPropertyOptional({ format: 'uuid' })
  @IsOptional()
  @IsUUID('loose', { message: 'last_id should be the id of an order' })
  last_id?: string;
}

/** Message of a value that `fulfilment` cannot have. */
export const UNKNOWN_FULFILMENT = `fulfilment should be one of ${FULFILMENTS.join(', ')}`;

/** Query of the administrators' list. */
export class AdminOrdersQuery extends OrdersQuery {
  @ApiPropertyOptional({ enum: ORDER_STATUSES })
  @IsOptional()
  @IsIn(ORDER_STATUSES, { message: `status should be one of ${ORDER_STATUSES.join(', ')}` })
  status?: OrderStatus;

  @ApiPropertyOptional({ enum: FULFILMENTS })
  @IsOptional()
  @IsIn(FULFILMENTS, { message: UNKNOWN_FULFILMENT })
  fulfilment?: Fulfilment;

  @SearchQuery("Part of the customer's name or e-mail, or how the order's id begins; case does not matter")
  q?: string;
}

/** Body of PUT /api/admin/orders/{order_id}/fulfilment. */
export class FulfilmentDto {
  @ApiProperty({ enum: FULFILMENTS, example: 'preparing' })
  @IsIn(FULFILMENTS, { message: UNKNOWN_FULFILMENT })
  fulfilment!: Fulfilment;
}

/** For the OpenAPI document. */
export const ORDER_ID_PARAM = { name: 'order_id', schema: { type: 'string', format: 'uuid' } } as const;

/** An order's id from a path, in lower case. @throws Failure 404: what is no UUID is no order */
export function orderIdOf(text: string): string {
  if (!isUUID(text, 'loose')) throw failures.notFound();
  return text.toLowerCase();
}
