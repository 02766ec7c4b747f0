import { type DynamicModule, Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { dataSourceOptions } from './data-source.js';
import { Database } from './database.js';

/** Provides the database and its TypeORM data source to every module. */
@Global()
@Module({})
export class DatabaseModule {
  static forRoot(database: Database): DynamicModule {
    // The caller has opened the database, so a failure to connect is not retried here.
    const connection = dataSourceOptions(database.url, database.timeoutFactor);
    const options = { ...connection, autoLoadEntities: true, retryAttempts: 0 };
    return {
      module: DatabaseModule,
      imports: [TypeOrmModule.forRoot(options)],
      providers: [{ provide: Database, useValue: database }],
      exports: [Database],
    };
  }
}
