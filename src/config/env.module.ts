import { Global, Module, type DynamicModule } from '@nestjs/common';
import { Database } from './database.js';
import { Env } from './env.js';

/** Gives every module the settings. Global, so that no module has to import it. */
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
