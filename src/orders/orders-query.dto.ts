import { Injectable, type PipeTransform } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, isUUID, IsUUID } from 'class-validator';
import { failures } from '../common/errors.js';
import { ORDER_STATUSES, type OrderStatus } from './order-status.js';

/** Query of a list of orders. */
export class OrdersQuery {
  /** The last order of the page before. */
  @ApiPropertyOptional({ format: 'uuid' })
  @IsOptional()
  @IsUUID('loose', { message: 'last_id should be the id of an order' })
  last_id?: string;
}

/** Query of the administrators' list. */
export class AdminOrdersQuery extends OrdersQuery {
  @ApiPropertyOptional({ enum: ORDER_STATUSES })
  @IsOptional()
  @IsIn(ORDER_STATUSES, { message: `status should be one of ${ORDER_STATUSES.join(', ')}` })
  status?: OrderStatus;
}

/** For the OpenAPI document. */
export const ORDER_ID_PARAM = { name: 'order_id', schema: { type: 'string', format: 'uuid' } } as const;

/** An order's id from a path, in lower case. @throws Failure 404: what is no UUID is no order */
@Injectable()
export class OrderIdPipe implements PipeTransform<string, string> {
  transform(text: string): string {
    if (!isUUID(text, 'loose')) throw failures.notFound();
    return text.toLowerCase();
  }
}
