import { type DynamicModule, Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { dataSourceOptions } from './data-source.js';
import { Database } from './database.js';

/** Provides the database and its TypeORM data source to every module. */
@Global()
@Module({})
export class DatabaseModule {
  /** @param timeoutFactor larger than 1 in tests, because their machine may be busy */
  static forRoot(database: Database, { timeoutFactor = 1 } = {}): DynamicModule {
    // The caller has opened the database, so a failure to connect is not retried here.
    const connection = dataSourceOptions(database.url, timeoutFactor);
    const options = { ...connection, autoLoadEntities: true, retryAttempts: 0 };
    return {
      module: DatabaseModule,
      imports: [TypeOrmModule.forRoot(options)],
      providers: [{ provide: Database, useValue: database }],
      exports: [Database],
    };
  }
}
