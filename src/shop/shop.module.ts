import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Shop } from './shop.entity.js';
import { ShopService } from './shop.service.js';

/** Settings of the shop. The routes are in orders/shop.controller.ts, because orders decide which slots are full. */
@Module({
  imports: [TypeOrmModule.forFeature([Shop])],
  providers: [ShopService],
  exports: [ShopService],
})
export class ShopModule {}
