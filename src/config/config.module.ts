import { type DynamicModule, Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { dataSourceOptions } from './data-source.js';
import { Database } from './database.js';
import { Env } from './env.js';

/** Provides the settings, the database and its TypeORM data source to every module. */
@Global()
@Module({})
export class ConfigModule {
  static forRoot(env: Env, database: Database): DynamicModule {
    // The caller has opened the database, so a failure to connect is not retried here.
    const options = { ...dataSourceOptions(database.url), autoLoadEntities: true, retryAttempts: 0 };
    return {
      module: ConfigModule,
      imports: [TypeOrmModule.forRoot(options)],
      providers: [
        { provide: Env, useValue: env },
        { provide: Database, useValue: database },
      ],
      exports: [Env, Database],
    };
  }
}
