import { Controller, Get, Query, UseGuards } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AdminGuard } from '../auth/admin.guard.js';
import { failures } from '../common/errors.js';
import { ApiEndpoint } from '../common/openapi.decorators.js';
import { OrderPageMeta, OrderView } from './order.dto.js';
import { AdminOrdersQuery } from './orders-query.dto.js';
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
    success: { status: 200, data: { meta: OrderPageMeta, orders: [OrderView] } },
    failures: [failures.validation({ last_id: 'last_id should be the id of an order' }), failures.notFound()],
  })
  async list(@Query() query: AdminOrdersQuery): Promise<{ meta: OrderPageMeta; orders: OrderView[] }> {
    const page = await this.orders.page({ status: query.status, afterId: query.last_id });
    return { meta: new OrderPageMeta(page), orders: page.map((order) => new OrderView(order)) };
  }
}
