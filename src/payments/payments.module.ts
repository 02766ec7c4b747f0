import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { GatewayModule } from '../gateway/gateway.module.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { OrdersModule } from '../orders/orders.module.js';
import { AdminOrdersController } from './admin-orders.controller.js';
import { OrderCancellationController } from './order-cancellation.controller.js';
import { PaymentEvent } from './payment-event.entity.js';
import { PaymentHistoryService } from './payment-history.service.js';
import { PaymentSyncService } from './payment-sync.service.js';
import { PaymentsController } from './payments.controller.js';
import { PaymentsService } from './payments.service.js';
import { ReconciliationService } from './reconciliation.service.js';
import { Refund } from './refund.entity.js';
import { RefundSettlementService } from './refund-settlement.service.js';
import { RefundsService } from './refunds.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([PaymentEvent, Refund]), GatewayModule, JobsModule, OrdersModule],
  controllers: [PaymentsController, OrderCancellationController, AdminOrdersController],
  providers: [
    PaymentHistoryService,
    PaymentSyncService,
    PaymentsService,
    ReconciliationService,
    RefundSettlementService,
    RefundsService,
  ],
  exports: [PaymentHistoryService, RefundSettlementService],
})
export class PaymentsModule {}
