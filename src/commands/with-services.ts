import { Module, type ModuleMetadata, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ConfigModule } from '../config/config.module.js';
import { DatabaseModule } from '../database/database.module.js';
import { migrate } from '../database/migrate.js';
import type { Command } from './command-line.js';

@Module({})
class CommandModule {}

/**
 * Returns a command that migrates the database and calls `act` with an instance of `type`, which Nest creates. No routes are
 * served, and no jobs run.
 */
export function withServices<T>(
  type: Type<T>,
  { imports = [], providers = [] }: Pick<ModuleMetadata, 'imports' | 'providers'>,
  act: (command: T) => Promise<void>,
): Command {
  return async (env, open) => {
    const database = await open();
    await migrate(database.url, console.error);
    const module = {
      module: CommandModule,
      imports: [ConfigModule.forRoot(env), DatabaseModule.forRoot(database), ...imports],
      providers: [...providers, type],
    };
    const services = await NestFactory.createApplicationContext(module, {
      logger: ['error', 'fatal'],
      abortOnError: false,
    });
    try {
      await act(services.get(type));
    } finally {
      await services.close();
    }
  };
}
