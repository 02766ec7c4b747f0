import { Module, type ModuleMetadata, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ConfigModule } from '../config/config.module.js';
import type { Env } from '../config/env.js';
import type { Database } from '../database/database.js';
import { DatabaseModule } from '../database/database.module.js';
import { migrate } from '../database/migrate.js';

interface CommandOptions<T> extends Pick<ModuleMetadata, 'imports' | 'providers'> {
  readonly env: Env;
  readonly database: Database;
  readonly command: Type<T>;
}

@Module({})
class CommandModule {}

/** Migrates the database and calls `act` with a command that Nest creates. No routes are served, and no jobs run. */
export async function withServices<T>(
  { env, database, command, imports = [], providers = [] }: CommandOptions<T>,
  act: (command: T) => Promise<void>,
): Promise<void> {
  await migrate(database.url, console.error);
  const module = {
    module: CommandModule,
    imports: [ConfigModule.forRoot(env), DatabaseModule.forRoot(database), ...imports],
    providers: [...providers, command],
  };
  const services = await NestFactory.createApplicationContext(module, {
    logger: ['error', 'fatal'],
    abortOnError: false,
  });
  try {
    await act(services.get(command));
  } finally {
    await services.close();
  }
}
