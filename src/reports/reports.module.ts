import { Module } from '@nestjs/common';
import { OrdersModule } from '../orders/orders.module.js';
import { ShopModule } from '../shop/shop.module.js';
import { ReportsController } from './reports.controller.js';
import { ReportsService } from './reports.service.js';
import { SalesRepository } from './sales.repository.js';

@Module({
  imports: [OrdersModule, ShopModule],
  controllers: [ReportsController],
  providers: [ReportsService, SalesRepository],
})
export class ReportsModule {}
