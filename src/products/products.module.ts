import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from '../auth/auth.module.js';
import { ImagesModule } from '../images/images.module.js';
import { ListReads } from './listing/list-reads.js';
import { ProductChanges } from './listing/product-changes.js';
import { ProductListService } from './listing/product-list.service.js';
import { ProductWrites } from './listing/product-writes.js';
import { Product } from './product.entity.js';
import { ProductsController } from './products.controller.js';
import { ProductsRepository } from './products.repository.js';
import { ProductsService } from './products.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([Product]), AuthModule, ImagesModule],
  controllers: [ProductsController],
  providers: [
    ListReads,
    ProductChanges,
    ProductListService,
    ProductsRepository,
    ProductsService,
    ProductWrites,
  ],
  exports: [ProductListService, ProductsService],
})
export class ProductsModule {}
