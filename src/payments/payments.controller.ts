import { Controller, Param, Post, type RawBodyRequest, Req } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { type AuthUser, CurrentUser } from '../common/access.js';
import { failures } from '../common/errors/failures.js';
import { ApiEndpoint } from '../common/openapi/api-endpoint.decorator.js';
import { OrderParams, OrderView } from '../orders/order.dto.js';
import { OrderCancellationService } from './order-cancellation.service.js';
import { PaymentNotificationDto } from './payment-notification.dto.js';
import { PaymentNotificationsService } from './payment-notifications.service.js';

/** Contract 4.9 fixes the path: operators have entered it at the gateway. */
@ApiTags('Payments')
@Controller('products/payments')
export class PaymentsController {
  constructor(private readonly notifications: PaymentNotificationsService) {}

  @ApiBody({ type: PaymentNotificationDto })
  @ApiEndpoint({
    summary: 'Receive a payment notification from the payment gateway',
    description:
      'An empty 200 acknowledges the notification. A redelivery is acknowledged and changes nothing. A `settlement` or ' +
      '`capture` whose status code is not 200 (or 201 for a `capture` with the fraud status `challenge`), or with another ' +
      'amount or currency than the order, is rejected with 400.',
    access: 'public',
    success: { status: 200 },
    failures: [
      failures.validation({ transaction_status: 'transaction_status is invalid' }),
      failures.invalidSignature(),
      failures.notFound(),
    ],
    takes: 'json',
  })
  @Post()
  // Not `@Body()` with the DTO: the signature is checked first, and a signed but invalid notification is stored.
  async receive(@Req() { body, rawBody }: RawBodyRequest<Request>): Promise<void> {
    await this.notifications.receive(body, rawBody?.toString() ?? '');
  }
}

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
