import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { AccessGuard } from './auth/access.guard.js';
import { AuthModule } from './auth/auth.module.js';
import { FailEnvelopeFilter } from './common/errors/fail-envelope.filter.js';
import { SuccessEnvelopeInterceptor } from './common/http/success-envelope.interceptor.js';
import { DtoValidationPipe } from './common/validation/validation.pipe.js';
import { ConfigModule } from './config/config.module.js';
import type { Env } from './config/env.js';
import type { Database } from './database/database.js';
import { DatabaseModule } from './database/database.module.js';
import { SimulatorModule } from './gateway/gateway.module.js';
import { HealthModule } from './health/health.module.js';
import { ImagesModule } from './images/images.module.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { OrdersModule } from './orders/orders.module.js';
import { PaymentsModule } from './payments/payments.module.js';
import { ProductsModule } from './products/products.module.js';
import { ReportsModule } from './reports/reports.module.js';
import { ShopModule } from './shop/shop.module.js';

@Module({
  providers: [
    { provide: APP_GUARD, useClass: AccessGuard },
    { provide: APP_INTERCEPTOR, useClass: SuccessEnvelopeInterceptor },
    { provide: APP_PIPE, useClass: DtoValidationPipe },
    { provide: APP_FILTER, useClass: FailEnvelopeFilter },
  ],
})
export class AppModule {
  static forRoot(env: Env, database: Database): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.forRoot(env),
        DatabaseModule.forRoot(database),
        AuthModule,
        PaymentsModule,
        ProductsModule,
        ImagesModule,
        OrdersModule,
        ReportsModule,
        ShopModule,
        ...(env.paymentGateway === 'simulator' ? [SimulatorModule] : []),
        HealthModule,
        ...(env.metricsPort === undefined ? [] : [MetricsModule]),
      ],
    };
  }
}
