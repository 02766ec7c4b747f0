import { Body, Controller, Get, Param, Post, Put, Query } from '@nestjs/common';
import { ApiBody, ApiParam, ApiTags } from '@nestjs/swagger';
import { ApiEndpoint } from '../common/api-endpoint.decorator.js';
import { failures } from '../common/errors.js';
import { ApiIdempotencyKey, IdempotentBody } from '../common/idempotency.js';
import { FULFILMENTS } from '../orders/fulfilment.js';
import { AdminOrderView, OrderPageMeta } from '../orders/order.dto.js';
import {
  AdminOrdersQuery,
  FulfilmentDto,
  ORDER_ID_PARAM,
  ORDER_LIST_DOCS,
  OrderIdPipe,
  UNKNOWN_FULFILMENT,
} from '../orders/orders-query.dto.js';
import { OrdersService } from '../orders/orders.service.js';
import { HistoryMeta, HistoryQuery, NotificationView } from './order-history.dto.js';
import { OrderStepsService } from './order-steps.service.js';
import { PaymentEventsService } from './payment-events.service.js';
import { RefundDto } from './refund.dto.js';
import { RefundsService } from './refunds.service.js';

@ApiTags('Administration')
@Controller('admin/orders')
export class AdminOrdersController {
  constructor(
    private readonly orders: OrdersService,
    private readonly events: PaymentEventsService,
    private readonly steps: OrderStepsService,
    private readonly refunds: RefundsService,
  ) {}

  @Get()
  @ApiEndpoint({
    summary: 'List the orders of all customers, newest first',
    ...ORDER_LIST_DOCS,
    access: 'admin',
    success: { status: 200, data: { meta: OrderPageMeta, orders: [AdminOrderView] } },
  })
  async list(@Query() query: AdminOrdersQuery) {
    const page = await this.orders.page(query);
    return { meta: new OrderPageMeta(page), orders: page.map((order) => new AdminOrderView(order)) };
  }

  @Get(':order_id')
  @ApiParam(ORDER_ID_PARAM)
  @ApiEndpoint({
    summary: 'Return an order with its customer and its payment history',
    description:
      '`notifications` is the payment history, oldest first, 50 events per page. It contains signed notifications and ' +
      'refunds, and other payment events only if they changed the order.',
    access: 'admin',
    success: {
      status: 200,
      data: { order: AdminOrderView, meta: HistoryMeta, notifications: [NotificationView] },
    },
    failures: [
      failures.malformedRequest(),
      failures.validation({ last_id: 'last_id should be a number' }),
      failures.notFound(),
    ],
  })
  async show(@Param('order_id', OrderIdPipe) orderId: string, @Query() { last_id: lastId }: HistoryQuery) {
    const order = await this.orders.findWithCustomer(orderId);
    const events = await this.events.page(order.orderId, lastId);
    if (events.length === 0 && lastId > 0) throw failures.notFound();
    const notifications = events.map((event) => new NotificationView(event));
    const meta: HistoryMeta = { lastNotificationId: notifications.at(-1)?.id ?? null };
    return { order: new AdminOrderView(order), meta, notifications };
  }

  @Put(':order_id/fulfilment')
  @ApiParam(ORDER_ID_PARAM)
  @ApiBody({ type: FulfilmentDto })
  @ApiEndpoint({
    summary: 'Take an order to its next step',
    description:
      'new → preparing → ready → collected. A new, preparing or ready order can become refused. Only a paid order can ' +
      'become preparing. Refusing an order cancels its pending payment at the gateway first; it does not refund a ' +
      'payment. The customer gets an e-mail when the order becomes ready or refused.',
    access: 'admin',
    success: { status: 200, data: { order: AdminOrderView } },
    failures: [
      failures.validation({ fulfilment: UNKNOWN_FULFILMENT }),
      failures.notFound(),
      ...FULFILMENTS.map((step) => failures.fulfilmentStep(step)),
      failures.gatewayUnavailable(),
    ],
    takes: 'json',
  })
  async advance(@Param('order_id', OrderIdPipe) orderId: string, @Body() { fulfilment }: FulfilmentDto) {
    return { order: new AdminOrderView(await this.steps.advance(orderId, fulfilment)) };
  }

  @Post(':order_id/refund')
  @ApiParam(ORDER_ID_PARAM)
  @ApiBody({ type: RefundDto })
  @ApiIdempotencyKey()
  @ApiEndpoint({
    summary: 'Return money to the customer of a paid order',
    description:
      'Refunds at the gateway; `manual: true` only records a refund that was made outside of it. After a 502, repeat the ' +
      'call with the same `Idempotency-Key` and body. The call then completes the stored refund, and makes no second one.',
    access: 'admin',
    success: { status: 200, data: { order: AdminOrderView } },
    failures: [
      failures.validation({ amount: 'amount should be a whole number from 1' }),
      failures.notFound(),
      failures.orderNotRefundable(),
      failures.refundRejected(),
      failures.idempotencyKeyReused(),
      failures.gatewayUnavailable(),
    ],
    takes: 'json',
  })
  async refund(@Param('order_id', OrderIdPipe) orderId: string, @IdempotentBody() request: RefundDto) {
    return { order: new AdminOrderView(await this.refunds.refund(orderId, request)) };
  }
}
