import { Controller, Get, Query, UseGuards } from '@nestjs/common';
import { ApiQuery, ApiTags } from '@nestjs/swagger';
import { AdminGuard } from '../auth/admin.guard.js';
import { failures } from '../common/errors.js';
import { ApiEndpoint } from '../common/openapi.decorators.js';
import { ORDER_STATUSES } from './order-status.js';
import { OrderPageMeta, OrderView } from './orders.dto.js';
import { lastOrderIdOf, statusFilterOf, UNKNOWN_STATUS } from './orders.input.js';
import { OrdersService } from './orders.service.js';

@ApiTags('Administration')
@UseGuards(AdminGuard)
@Controller('admin/orders')
export class AdminOrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Get()
  @ApiQuery({ name: 'status', required: false, enum: ORDER_STATUSES })
  @ApiQuery({ name: 'last_id', required: false, schema: { type: 'string', format: 'uuid' } })
  @ApiEndpoint({
    summary: 'A page of 50 orders of all customers, newest first',
    description: 'The end of the list is the 404.',
    access: 'admin',
    success: { status: 200, data: { meta: OrderPageMeta, orders: [OrderView] } },
    failures: [failures.validation({ status: UNKNOWN_STATUS }), failures.notFound()],
  })
  async list(
    @Query('status') status?: unknown,
    @Query('last_id') lastId?: unknown,
  ): Promise<{ meta: OrderPageMeta; orders: OrderView[] }> {
    const page = await this.orders.page(statusFilterOf(status), lastOrderIdOf(lastId));
    return {
      meta: new OrderPageMeta(page.at(-1)?.order_id ?? ''),
      orders: page.map((row) => new OrderView(row)),
    };
  }
}
