import { Controller, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { type AuthUser, CurrentUser } from '../common/access.js';
import { failures } from '../common/errors/failures.js';
import { ApiEndpoint } from '../common/openapi/api-endpoint.decorator.js';
import { OrderParams, OrderView } from '../orders/order.dto.js';
import { OrderCancellationService } from './order-cancellation.service.js';

/** Belongs to payments, because a cancellation ends the payment at the gateway first. */
@ApiTags('Orders')
@Controller('orders')
export class OrderCancellationController {
  constructor(private readonly cancellation: OrderCancellationService) {}

  @ApiEndpoint({
    summary: 'Cancel an open order and its payments at the gateway',
    access: 'user',
    success: { status: 200, data: { order: OrderView } },
    failures: [failures.notFound(), failures.orderNotPending(), failures.gatewayUnavailable()],
  })
  @Post(':order_id/cancel')
  async cancel(@CurrentUser() customer: AuthUser, @Param() { order_id: orderId }: OrderParams) {
    return { order: new OrderView(await this.cancellation.cancel(customer, orderId)) };
  }
}
