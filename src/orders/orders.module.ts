import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { GatewayModule } from '../gateway/gateway.module.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { MailModule } from '../mail/mail.module.js';
import { ProductsModule } from '../products/products.module.js';
import { ShopModule } from '../shop/shop.module.js';
import { UsersModule } from '../users/users.module.js';
import { CheckoutService } from './checkout.service.js';
import { OrderAction } from './order-action.entity.js';
import { OrderItem } from './order-item.entity.js';
import { OrderMailsService } from './order-mails.service.js';
import { OrderPlacementService } from './order-placement.service.js';
import { Order } from './order.entity.js';
import { OrdersController } from './orders.controller.js';
import { OrdersRepository } from './orders.repository.js';
import { OrdersService } from './orders.service.js';
import { PaymentAttempt } from './payment-attempt.entity.js';
import { PickupsService } from './pickups.service.js';
import { ShopController } from './shop.controller.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([Order, OrderAction, OrderItem, PaymentAttempt]),
    GatewayModule,
    JobsModule,
    MailModule,
    ProductsModule,
    ShopModule,
    UsersModule,
  ],
  controllers: [OrdersController, ShopController],
  providers: [
    CheckoutService,
    OrderMailsService,
    OrderPlacementService,
    OrdersRepository,
    OrdersService,
    PickupsService,
  ],
  exports: [OrderMailsService, OrderPlacementService, OrdersService],
})
export class OrdersModule {}
