import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { failures } from '../common/errors.js';
import { ApiEndpoint } from '../common/api-endpoint.decorator.js';
import { AdminOrderView, OrderPageMeta } from './order.dto.js';
import { AdminOrdersQuery } from './orders-query.dto.js';
import { OrdersService } from './orders.service.js';

@ApiTags('Administration')
@Controller('admin/orders')
export class AdminOrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Get()
  @ApiEndpoint({
    summary: 'List the orders of all customers, newest first',
    description:
      'A page contains 50 orders. After the last page, and without any order, the response is 404.',
    access: 'admin',
    success: { status: 200, data: { meta: OrderPageMeta, orders: [AdminOrderView] } },
    failures: [failures.validation({ last_id: 'last_id should be the id of an order' }), failures.notFound()],
  })
  async list(@Query() query: AdminOrdersQuery) {
    const page = await this.orders.page(query);
    return { meta: new OrderPageMeta(page), orders: page.map((order) => new AdminOrderView(order)) };
  }
}
