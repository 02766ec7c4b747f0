import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { type AuthUser, CurrentUser } from '../common/access.js';
import { failures } from '../common/errors/failures.js';
import { FairQueue } from '../common/fair-queue.js';
import { type Client, CurrentClient } from '../common/http/client.decorator.js';
import { ApiIdempotent, IdempotentBody } from '../common/http/idempotency.js';
import { ApiEndpoint } from '../common/openapi/api-endpoint.decorator.js';
import { CheckoutService } from './checkout.service.js';
import { OrderPlacementService } from './order-placement.service.js';
import {
  CreateOrderDto,
  ORDER_LIST_DOCS,
  OrdersQuery,
  PICKUP_IMPOSSIBLE,
  PRODUCT_GONE,
  SHOP_CLOSED,
} from './order-requests.dto.js';
import { OrderPageMeta, OrderParams, OrderView, PaymentPageView } from './order.dto.js';
import { OrdersService } from './orders.service.js';

@ApiTags('Orders')
@Controller('orders')
export class OrdersController {
  /** A page can occupy the process for 10 ms, so customers are served in turn. */
  readonly #pages = new FairQueue({ capacity: 2, maxWaiting: 200 });

  constructor(
    private readonly orders: OrdersService,
    private readonly placement: OrderPlacementService,
    private readonly checkout: CheckoutService,
  ) {}

  @ApiIdempotent(CreateOrderDto)
  @ApiEndpoint({
    summary: 'Create an order at catalog prices',
    description:
      'A repeated request with the same Idempotency-Key and body returns the same order. After a 502 the order is ' +
      'pending: repeat the call with the same key, or request its payment page.',
    access: 'user',
    success: { status: 201, data: { order: OrderView } },
    failures: [
      failures.validation({ 'items.0.product_id': PRODUCT_GONE, pickup_at: PICKUP_IMPOSSIBLE }),
      failures.validation({ pickup_at: SHOP_CLOSED }),
      failures.idempotencyKeyReused(),
      failures.tooManyOpenOrders(),
      failures.gatewayUnavailable(),
    ],
    takes: 'json',
  })
  @Post()
  async create(
    @CurrentUser() customer: AuthUser,
    // Not the DTO: `DtoValidationPipe` would reject an invalid order before its products and its pickup time are checked.
    @IdempotentBody() body: object,
    @CurrentClient() { disconnectSignal }: Client,
  ) {
    return { order: new OrderView(await this.placement.create(customer, body, disconnectSignal)) };
  }

  @ApiEndpoint({
    summary: 'List your orders, newest first',
    ...ORDER_LIST_DOCS,
    access: 'user',
    success: { status: 200, data: { meta: OrderPageMeta, orders: [OrderView] } },
  })
  @Get()
  async list(
    @CurrentUser() customer: AuthUser,
    @Query() query: OrdersQuery,
    @CurrentClient() { disconnectSignal }: Client,
  ) {
    const turn = { client: String(customer.id), disconnectSignal };
    const { orders, lastOrderId } = await this.#pages.run(
      () => this.orders.findPage(query, customer.id),
      turn,
    );
    return { meta: { lastOrderId }, orders: orders.map((order) => new OrderView(order)) };
  }

  @ApiEndpoint({
    summary: 'Return an order',
    description:
      'For its owner and administrators. To poll an order, send its last ETag in `If-None-Match`: 304 means unchanged.',
    access: 'user',
    success: { status: 200, data: { order: OrderView } },
    failures: [failures.notFound()],
  })
  @Get(':order_id')
  async show(@CurrentUser() authUser: AuthUser, @Param() { order_id: orderId }: OrderParams) {
    return { order: new OrderView(await this.orders.findFor(authUser, orderId)) };
  }

  @ApiEndpoint({
    summary: 'Return the payment page of an open order, or open a new one',
    access: 'user',
    success: { status: 200, data: PaymentPageView },
    failures: [failures.notFound(), failures.orderNotPending(), failures.gatewayUnavailable()],
  })
  @Post(':order_id/token')
  async token(@CurrentUser() customer: AuthUser, @Param() { order_id: orderId }: OrderParams) {
    return new PaymentPageView(await this.checkout.getPage(customer, orderId));
  }
}
