/**
 * Floor FN: minimal Nest application on Express that returns pages like F2 and accepts payment notifications like F5.
 * One guard that verifies the cookie, one controller, TypeORM's `query` and `transaction`, Nest's own JSON parser. No
 * other middleware, interceptor or pipe.
 * Settings: PORT, JWT_ACCESS_SECRET, DATABASE_URL, SERVER_KEY.
 */
import {
  Body,
  Controller,
  ForbiddenException,
  Get,
  HttpCode,
  Module,
  NotFoundException,
  Post,
  Query,
  UseGuards,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { createAccessCheck } from './access-check.mjs';
import { isSigned } from './notification.mjs';
import { PAGE_SQL, PAY_SQL } from './statements.mjs';

const { PORT, JWT_ACCESS_SECRET, DATABASE_URL, SERVER_KEY } = process.env;
const dataSource = await new DataSource({ type: 'postgres', url: DATABASE_URL, poolSize: 10 }).initialize();
const isSignedIn = createAccessCheck(JWT_ACCESS_SECRET);

class CookieGuard {
  canActivate(context) {
    return isSignedIn(context.switchToHttp().getRequest());
  }
}

class ProductsController {
  async list(lastId = '0') {
    const products = await dataSource.query(PAGE_SQL, [Number(lastId)]);
    return { status: 'success', data: { meta: { lastProductId: products.at(-1)?.id }, products } };
  }

  async receive(notification) {
    if (!isSigned(notification, SERVER_KEY)) throw new ForbiddenException();
    const { order_id, transaction_status, transaction_id, payment_type } = notification;
    const [, changed] = await dataSource.transaction((tx) =>
      tx.query(PAY_SQL, [order_id, transaction_status, transaction_id, payment_type]),
    );
    if (changed !== 1) throw new NotFoundException();
  }
}

class AppModule {}

// Decorators are applied as functions, because this file is not compiled.
function decorate(prototype, method, ...decorators) {
  const descriptor = Object.getOwnPropertyDescriptor(prototype, method);
  for (const decorator of decorators) decorator(prototype, method, descriptor);
}
decorate(ProductsController.prototype, 'list', Get(), UseGuards(CookieGuard));
Query('last_id')(ProductsController.prototype, 'list', 0);
decorate(ProductsController.prototype, 'receive', Post('payments'), HttpCode(200));
Body()(ProductsController.prototype, 'receive', 0);
Controller('api/products')(ProductsController);
Module({ controllers: [ProductsController] })(AppModule);

const app = await NestFactory.create(AppModule, { logger: ['error'] });
await app.listen(Number(PORT), '127.0.0.1');
