import { Body, Controller, Get, Param, Put, Query, UseGuards } from '@nestjs/common';
import { ApiBody, ApiParam, ApiTags } from '@nestjs/swagger';
import { AdminGuard } from '../auth/admin.guard.js';
import { failures } from '../common/errors.js';
import { ApiEndpoint } from '../common/api-endpoint.decorator.js';
import { FULFILMENTS } from './fulfilment.js';
import { AdminOrderView, OrderPageMeta } from './order.dto.js';
import {
  AdminOrdersQuery,
  FulfilmentDto,
  ORDER_ID_PARAM,
  orderIdOf,
  UNKNOWN_FULFILMENT,
} from './orders-query.dto.js';
import { OrdersService } from './orders.service.js';

@ApiTags('Administration')
@UseGuards(AdminGuard)
@Controller('admin/orders')
export class AdminOrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Get()
  @ApiEndpoint({
    summary: 'A page of 50 orders of all customers, newest first',
    description: 'The end of the list is the 404.',
    access: 'admin',
    success: { status: 200, data: { meta: OrderPageMeta, orders: [AdminOrderView] } },
    failures: [failures.validation({ last_id: 'last_id should be the id of an order' }), failures.notFound()],
  })
  async list(@Query() query: AdminOrdersQuery): Promise<{ meta: OrderPageMeta; orders: AdminOrderView[] }> {
    const page = await this.orders.page(query);
    return { meta: new OrderPageMeta(page), orders: page.map((order) => new AdminOrderView(order)) };
  }

  @Put(':order_id/fulfilment')
  @ApiParam(ORDER_ID_PARAM)
  @ApiBody({ type: FulfilmentDto })
  @ApiEndpoint({
    summary: 'Take an order to its next step',
    description:
      'new → preparing → ready → collected, and refused from any but collected. Only a paid order can become ' +
      'preparing. The customer is mailed when it is ready. The payment stays as it is.',
    access: 'admin',
    success: { status: 200, data: { order: AdminOrderView } },
    failures: [
      failures.validation({ fulfilment: UNKNOWN_FULFILMENT }),
      failures.notFound(),
      ...FULFILMENTS.map((step) => failures.fulfilmentStep(step)),
    ],
    takes: 'json',
  })
  async advance(
    @Param('order_id') orderId: string,
    @Body() { fulfilment }: FulfilmentDto,
  ): Promise<{ order: AdminOrderView }> {
    return { order: new AdminOrderView(await this.orders.advance(orderIdOf(orderId), fulfilment)) };
  }
}
