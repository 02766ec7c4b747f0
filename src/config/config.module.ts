import { type DynamicModule, Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { dataSourceOptions } from './data-source.js';
import { Database } from './database.js';
import { Env } from './env.js';

/**
 * Gives every module the settings and the one connection pool of the process. Global, so that no module has to import
 * it. Entities are registered by the modules that own them.
 */
@Global()
@Module({})
export class ConfigModule {
  static forRoot(env: Env, database: Database): DynamicModule {
    const pool = { ...dataSourceOptions(database.url), autoLoadEntities: true, retryAttempts: 0 };
    return {
      module: ConfigModule,
      imports: [TypeOrmModule.forRoot(pool)],
      providers: [
        { provide: Env, useValue: env },
        { provide: Database, useValue: database },
      ],
      exports: [Env, Database],
    };
  }
}
