import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { GatewayModule } from '../gateway/gateway.module.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { OrdersModule } from '../orders/orders.module.js';
import { CancellationService } from './cancellation.service.js';
import { OrderCancellationController } from './order-cancellation.controller.js';
import { OrderHistoryController } from './order-history.controller.js';
import { PaymentEventsService } from './payment-events.service.js';
import { PaymentNotification } from './payment-notification.entity.js';
import { PaymentsController } from './payments.controller.js';
import { PaymentsRepository } from './payments.repository.js';
import { PaymentsService } from './payments.service.js';
import { ReconciliationService } from './reconciliation.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([PaymentNotification]), GatewayModule, JobsModule, OrdersModule],
  controllers: [PaymentsController, OrderCancellationController, OrderHistoryController],
  providers: [
    CancellationService,
    PaymentEventsService,
    PaymentsRepository,
    PaymentsService,
    ReconciliationService,
  ],
})
export class PaymentsModule {}
