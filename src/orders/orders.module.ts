import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { GatewayModule } from '../gateway/gateway.module.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { MailModule } from '../mail/mail.module.js';
import { ProductsModule } from '../products/products.module.js';
import { ShopModule } from '../shop/shop.module.js';
import { CheckoutService } from './checkout.service.js';
import { Order, OrderItem } from './order.entity.js';
import { OrderMailsService } from './order-mails.service.js';
import { OrderPlacementService } from './order-placement.service.js';
import { OrdersController } from './orders.controller.js';
import { OrdersRepository } from './orders.repository.js';
import { OrdersService } from './orders.service.js';
import { PaymentAttempt } from './payment-attempt.entity.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([Order, OrderItem, PaymentAttempt]),
    GatewayModule,
    JobsModule,
    MailModule,
    ProductsModule,
    ShopModule,
  ],
  controllers: [OrdersController],
  providers: [CheckoutService, OrderMailsService, OrderPlacementService, OrdersRepository, OrdersService],
  exports: [OrderPlacementService, OrdersService],
})
export class OrdersModule {}
