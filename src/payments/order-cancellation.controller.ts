import { Controller, Param, Post } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import type { AuthUser } from '../common/access/auth-user.js';
import { CurrentUser } from '../common/access/current-user.decorator.js';
import { failures } from '../common/errors/failures.js';
import { ApiEndpoint } from '../common/openapi/api-endpoint.decorator.js';
import { OrderView } from '../orders/order.dto.js';
import { ORDER_ID_PARAM, OrderIdPipe } from '../orders/orders-query.dto.js';
import { OrderStepsService } from './order-steps.service.js';

/** Belongs to payments, because a cancellation ends the payment at the gateway first. */
@ApiTags('Orders')
@Controller('orders')
export class OrderCancellationController {
  constructor(private readonly steps: OrderStepsService) {}

  @ApiParam(ORDER_ID_PARAM)
  @ApiEndpoint({
    summary: 'Cancel a pending order, at the gateway and here',
    access: 'user',
    success: { status: 200, data: { order: OrderView } },
    failures: [
      failures.malformedRequest(),
      failures.notFound(),
      failures.orderNotPending(),
      failures.gatewayUnavailable(),
    ],
  })
  @Post(':order_id/cancel')
  async cancel(@CurrentUser() customer: AuthUser, @Param('order_id', OrderIdPipe) orderId: string) {
    return { order: new OrderView(await this.steps.cancel(customer, orderId)) };
  }
}
