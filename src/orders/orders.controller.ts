import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentUser, type Principal } from '../common/current-user.decorator.js';
import { failures } from '../common/errors.js';
import { ApiEndpoint } from '../common/api-endpoint.decorator.js';
import { ApiIdempotencyKey, IdempotentBody } from '../common/idempotency.js';
import { CreateOrderDto, OrderRequestDto, PICKUP_IMPOSSIBLE, PRODUCT_GONE } from './create-order.dto.js';
import { OrderPageMeta, OrderView, PaymentPageView } from './order.dto.js';
import { ORDER_ID_PARAM, OrderIdPipe, OrdersQuery } from './orders-query.dto.js';
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
    summary: 'Order products at their catalog prices',
    description:
      'The same Idempotency-Key with the same body gives the same order, however often it is sent. After a 502 the ' +
      'order is pending: repeat the call with the same key, or ask for its token.',
    access: 'user',
    success: { status: 201, data: { order: OrderView } },
    failures: [
      failures.validation({ 'items.0.product_id': PRODUCT_GONE, pickup_at: PICKUP_IMPOSSIBLE }),
      failures.idempotencyKeyReused(),
      failures.gatewayUnavailable(),
    ],
    takes: 'json',
  })
  async create(
    @CurrentUser() customer: Principal,
    @IdempotentBody() request: OrderRequestDto,
  ): Promise<{ order: OrderView }> {
    return { order: new OrderView(await this.placement.create(customer, request)) };
  }

  @Get()
  @ApiEndpoint({
    summary: 'A page of 50 of your orders, newest first',
    description: 'The end of the list is the 404.',
    access: 'user',
    success: { status: 200, data: { meta: OrderPageMeta, orders: [OrderView] } },
    failures: [failures.validation({ last_id: 'last_id should be the id of an order' }), failures.notFound()],
  })
  async list(
    @CurrentUser() customer: Principal,
    @Query() query: OrdersQuery,
  ): Promise<{ meta: OrderPageMeta; orders: OrderView[] }> {
    const page = await this.orders.page(query, customer.id);
    return { meta: new OrderPageMeta(page), orders: page.map((order) => new OrderView(order)) };
  }

  @Get(':order_id')
  @ApiParam(ORDER_ID_PARAM)
  @ApiHeader({ name: 'If-None-Match', required: false, description: 'The ETag of the last answer' })
  @ApiEndpoint({
    summary: 'One order: its status, to be polled',
    description:
      'For its owner and administrators. Send `If-None-Match` with the last ETag: unchanged is a 304.',
    access: 'user',
    success: { status: 200, data: { order: OrderView } },
    failures: [failures.malformedRequest(), failures.notFound()],
  })
  async show(
    @CurrentUser() caller: Principal,
    @Param('order_id', OrderIdPipe) orderId: string,
  ): Promise<{ order: OrderView }> {
    return { order: new OrderView(await this.orders.findFor(caller, orderId)) };
  }

  @Post(':order_id/token')
  @ApiParam(ORDER_ID_PARAM)
  @ApiEndpoint({
    summary: 'The payment page of a pending order, again or anew',
    access: 'user',
    success: { status: 200, data: PaymentPageView },
    failures: [
      failures.malformedRequest(),
      failures.notFound(),
      failures.orderNotPending(),
      failures.gatewayUnavailable(),
    ],
    changesState: true,
  })
  async token(
    @CurrentUser() customer: Principal,
    @Param('order_id', OrderIdPipe) orderId: string,
  ): Promise<PaymentPageView> {
    return new PaymentPageView(await this.orders.openPaymentPage(customer, orderId));
  }
}
