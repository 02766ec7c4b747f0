import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiBody, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentUser, type Principal } from '../common/current-user.decorator.js';
import { failures } from '../common/errors.js';
import { ApiEndpoint } from '../common/api-endpoint.decorator.js';
import { ApiIdempotencyKey, IdempotentBody } from '../common/idempotency.js';
import { CreateOrderDto, PICKUP_IMPOSSIBLE, PRODUCT_GONE } from './create-order.dto.js';
import { OrderPageMeta, OrderView, PaymentPageView } from './order.dto.js';
import { ORDER_ID_PARAM, ORDER_LIST_DOCS, OrderIdPipe, OrdersQuery } from './orders-query.dto.js';
import { OrderPlacementService } from './order-placement.service.js';
import { OrdersService } from './orders.service.js';

@ApiTags('Orders')
@Controller('orders')
export class OrdersController {
  constructor(
    private readonly orders: OrdersService,
    private readonly placement: OrderPlacementService,
  ) {}

  @Post()
  @ApiBody({ type: CreateOrderDto })
  @ApiIdempotencyKey()
  @ApiEndpoint({
    summary: 'Create an order at catalog prices',
    description:
      'A repeated request with the same Idempotency-Key and body returns the same order. After a 502 the order is ' +
      'pending: repeat the call with the same key, or request its payment page.',
    access: 'user',
    success: { status: 201, data: { order: OrderView } },
    failures: [
      failures.validation({ 'items.0.product_id': PRODUCT_GONE, pickup_at: PICKUP_IMPOSSIBLE }),
      failures.idempotencyKeyReused(),
      failures.gatewayUnavailable(),
    ],
    takes: 'json',
  })
  async create(@CurrentUser() customer: Principal, @IdempotentBody() request: CreateOrderDto) {
    return { order: new OrderView(await this.placement.create(customer, request)) };
  }

  @Get()
  @ApiEndpoint({
    summary: 'List your orders, newest first',
    ...ORDER_LIST_DOCS,
    access: 'user',
    success: { status: 200, data: { meta: OrderPageMeta, orders: [OrderView] } },
  })
  async list(@CurrentUser() customer: Principal, @Query() query: OrdersQuery) {
    const page = await this.orders.page(query, customer.id);
    return { meta: new OrderPageMeta(page), orders: page.map((order) => new OrderView(order)) };
  }

  @Get(':order_id')
  @ApiParam(ORDER_ID_PARAM)
  @ApiEndpoint({
    summary: 'Return an order',
    description:
      'For its owner and administrators. To poll an order, send its last ETag in `If-None-Match`: 304 means unchanged.',
    access: 'user',
    success: { status: 200, data: { order: OrderView } },
    failures: [failures.malformedRequest(), failures.notFound()],
  })
  async show(@CurrentUser() caller: Principal, @Param('order_id', OrderIdPipe) orderId: string) {
    return { order: new OrderView(await this.orders.findFor(caller, orderId)) };
  }

  @Post(':order_id/token')
  @ApiParam(ORDER_ID_PARAM)
  @ApiEndpoint({
    summary: 'Return the payment page of a pending order, or open a new one',
    access: 'user',
    success: { status: 200, data: PaymentPageView },
    failures: [
      failures.malformedRequest(),
      failures.notFound(),
      failures.orderNotPending(),
      failures.gatewayUnavailable(),
    ],
    changesStateWithoutBody: true,
  })
  async token(@CurrentUser() customer: Principal, @Param('order_id', OrderIdPipe) orderId: string) {
    return new PaymentPageView(await this.orders.openPaymentPage(customer, orderId));
  }
}
