import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ImagesModule } from '../images/images.module.js';
import { ShopModule } from '../shop/shop.module.js';
import { UsersModule } from '../users/users.module.js';
import { AdminProductsController } from './admin-products.controller.js';
import { ProductPages } from './product-pages.js';
import { Product } from './product.entity.js';
import { ProductsController } from './products.controller.js';
import { ProductsRepository } from './products.repository.js';
import { ProductsService } from './products.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([Product]), ImagesModule, ShopModule, UsersModule],
  controllers: [ProductsController, AdminProductsController],
  providers: [ProductPages, ProductsRepository, ProductsService],
  exports: [ProductsService],
})
export class ProductsModule {}
