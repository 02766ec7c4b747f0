import { Controller, Get, Param, Query, UseGuards } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import { AdminGuard } from '../auth/admin.guard.js';
import { failures } from '../common/errors.js';
import { ApiEndpoint } from '../common/api-endpoint.decorator.js';
import { AdminOrderView } from '../orders/order.dto.js';
import { ORDER_ID_PARAM, orderIdOf } from '../orders/orders-query.dto.js';
import { OrdersService } from '../orders/orders.service.js';
import { HistoryMeta, HistoryQuery, NotificationView } from './order-history.dto.js';
import { PaymentsRepository } from './payments.repository.js';

@ApiTags('Administration')
@UseGuards(AdminGuard)
@Controller('admin/orders')
export class OrderHistoryController {
  constructor(
    private readonly orders: OrdersService,
    private readonly payments: PaymentsRepository,
  ) {}

  @Get(':order_id')
  @ApiParam(ORDER_ID_PARAM)
  @ApiEndpoint({
    summary: 'An order with its customer and all that the gateway said of it',
    description: 'Oldest first, 50 a page, each as received and with what became of it.',
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
  async show(
    @Param('order_id') orderId: string,
    @Query() { last_id: afterId }: HistoryQuery,
  ): Promise<{ order: AdminOrderView; meta: HistoryMeta; notifications: NotificationView[] }> {
    const order = await this.orders.findWithCustomer(orderIdOf(orderId));
    const notifications = await this.payments.page(order.orderId, afterId ?? 0);
    if (notifications.length === 0 && afterId !== undefined) throw failures.notFound();
    return {
      order: new AdminOrderView(order),
      meta: new HistoryMeta(notifications),
      notifications: notifications.map((notification) => new NotificationView(notification)),
    };
  }
}
