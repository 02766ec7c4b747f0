import { Global, Module, type DynamicModule } from '@nestjs/common';
import { Database } from './database.js';
import { Env } from './env.js';

/** Gives every module the settings. Global, because settings are no feature. */
@Global()
@Module({})
export class EnvModule {
  static forRoot(env: Env, database: Database): DynamicModule {
    return {
      module: EnvModule,
      providers: [
        { provide: Env, useValue: env },
        { provide: Database, useValue: database },
      ],
      exports: [Env, Database],
    };
  }
}
