import { type MiddlewareConsumer, Module, type NestModule, RequestMethod } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from '../auth/auth.module.js';
import { ImagesModule } from '../images/images.module.js';
import { ShopModule } from '../shop/shop.module.js';
import { AdminProductsController } from './admin-products.controller.js';
import { ProductListMiddleware } from './product-list.middleware.js';
import { ProductPages } from './product-pages.js';
import { Product } from './product.entity.js';
import { ProductsController } from './products.controller.js';
import { ProductsRepository } from './products.repository.js';
import { ProductsService } from './products.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([Product]), AuthModule, ImagesModule, ShopModule],
  controllers: [ProductsController, AdminProductsController],
  providers: [ProductPages, ProductsRepository, ProductsService],
  exports: [ProductsService],
})
export class ProductsModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(ProductListMiddleware).forRoutes({ path: 'products', method: RequestMethod.GET });
  }
}
