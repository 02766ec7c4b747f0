import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { GatewayModule } from '../gateway/gateway.module.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { OrdersModule } from '../orders/orders.module.js';
import { AdminOrdersController } from './admin-orders.controller.js';
import { OrderCancellationService } from './order-cancellation.service.js';
import { PaymentEvent } from './payment-event.entity.js';
import { PaymentHistoryService } from './payment-history.service.js';
import { PaymentNotificationsService } from './payment-notifications.service.js';
import { PaymentSyncService } from './payment-sync.service.js';
import { OrderCancellationController, PaymentsController } from './payments.controller.js';
import { ReconciliationService } from './reconciliation.service.js';
import { RefundCompletionService } from './refund-completion.service.js';
import { Refund } from './refund.entity.js';
import { RefundsService } from './refunds.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([PaymentEvent, Refund]), GatewayModule, JobsModule, OrdersModule],
  controllers: [PaymentsController, OrderCancellationController, AdminOrdersController],
  providers: [
    OrderCancellationService,
    PaymentHistoryService,
    PaymentNotificationsService,
    PaymentSyncService,
    ReconciliationService,
    RefundCompletionService,
    RefundsService,
  ],
  exports: [PaymentHistoryService, RefundCompletionService],
})
export class PaymentsModule {}
