import { Body, Controller, Get, Param, Post, Put, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { type AuthUser, CurrentUser } from '../common/access.js';
import { failures } from '../common/errors/failures.js';
import { ApiIdempotent, IdempotentBody } from '../common/http/idempotency.js';
import { ArrivedAtMs } from '../common/http/request-info.js';
import { ApiEndpoint } from '../common/openapi/api-endpoint.decorator.js';
import { LAST_ID_NOT_A_NUMBER } from '../common/validation/query.decorators.js';
import { AdminOrderView, OrderPageMeta, OrderParams } from '../orders/order.dto.js';
import { FULFILMENTS } from '../orders/order-status.js';
import {
  AdminOrdersQuery,
  FulfilmentDto,
  ORDER_LIST_DOCS,
  UNKNOWN_FULFILMENT,
} from '../orders/order-requests.dto.js';
import { OrdersService } from '../orders/orders.service.js';
import {
  ActionView,
  HistoryMeta,
  HistoryQuery,
  NotificationView,
  RefundDto,
  TransactionView,
} from './admin-orders.dto.js';
import { OrderCancellationService } from './order-cancellation.service.js';
import { PaymentHistoryService } from './payment-history.service.js';
import { RefundsService } from './refunds.service.js';

/** Belongs to the payments module, because it shows the history of payments and refunds them. */
@ApiTags('Administration')
@Controller('admin/orders')
export class AdminOrdersController {
  constructor(
    private readonly orders: OrdersService,
    private readonly history: PaymentHistoryService,
    private readonly cancellation: OrderCancellationService,
    private readonly refunds: RefundsService,
  ) {}

  @ApiEndpoint({
    summary: 'List the orders of all customers, newest first',
    ...ORDER_LIST_DOCS,
    access: 'admin',
    success: { status: 200, data: { meta: OrderPageMeta, orders: [AdminOrderView] } },
  })
  @Get()
  async list(@Query() query: AdminOrdersQuery) {
    const { orders, lastOrderId } = await this.orders.findPage(query);
    return { meta: { lastOrderId }, orders: orders.map((order) => new AdminOrderView(order)) };
  }

  @ApiEndpoint({
    summary: 'Return an order with its customer and its payment history',
    description:
      '`transactions` and `actions` are complete, oldest first. `notifications` is the payment history, oldest first, ' +
      '50 events per page. The history contains signed notifications and refunds, and other payment events with the ' +
      'outcome `applied`.',
    access: 'admin',
    success: {
      status: 200,
      data: {
        order: AdminOrderView,
        transactions: [TransactionView],
        actions: [ActionView],
        meta: HistoryMeta,
        notifications: [NotificationView],
      },
    },
    failures: [failures.validation({ last_id: LAST_ID_NOT_A_NUMBER }), failures.notFound()],
  })
  @Get(':order_id')
  async show(@Param() { order_id: orderId }: OrderParams, @Query() { last_id: lastId }: HistoryQuery) {
    const { order, transactions, surplus, events, actions } = await this.history.readOrder(orderId, lastId);
    const notifications = events.map((event) => new NotificationView(event));
    return {
      order: new AdminOrderView(order),
      transactions: transactions.map((transaction) => new TransactionView(order, transaction, surplus)),
      actions: actions.map((action) => new ActionView(action)),
      meta: { lastNotificationId: notifications.at(-1)?.id ?? null },
      notifications,
    };
  }

  @ApiEndpoint({
    summary: 'Take an order to its next step, or one step back',
    description:
      'new → preparing → ready → collected, and back. A new, preparing or ready order can become refused. Only a paid order can ' +
      'become preparing. Before the service refuses an order, it cancels a pending or authorized payment at the gateway. A ' +
      'refusal refunds nothing. The customer gets an email when the order is refused, and one minute after it became ready, ' +
      'unless that step was taken back.',
    access: 'admin',
    success: { status: 200, data: { order: AdminOrderView } },
    failures: [
      failures.validation({ fulfilment: UNKNOWN_FULFILMENT }),
      failures.notFound(),
      ...FULFILMENTS.map((step) => failures.stepNotPossible(step)),
      failures.gatewayUnavailable(),
    ],
    takes: 'json',
  })
  @Put(':order_id/fulfilment')
  async takeStep(
    @CurrentUser() admin: AuthUser,
    @Param() { order_id: orderId }: OrderParams,
    @Body() { fulfilment }: FulfilmentDto,
  ) {
    const order =
      fulfilment === 'refused'
        ? await this.cancellation.refuse(admin, orderId)
        : await this.orders.storeStep(admin, orderId, fulfilment);
    return { order: new AdminOrderView(order) };
  }

  @ApiIdempotent(RefundDto)
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
  @Post(':order_id/refund')
  async refund(
    @CurrentUser() admin: AuthUser,
    @Param() { order_id: orderId }: OrderParams,
    @IdempotentBody() request: RefundDto,
    @ArrivedAtMs() arrivedAtMs: number,
  ) {
    const order = await this.refunds.refund(admin, orderId, request, arrivedAtMs);
    return { order: new AdminOrderView(order) };
  }
}
