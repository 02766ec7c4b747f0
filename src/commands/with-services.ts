import { type INestApplicationContext, Module, type ModuleMetadata } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ConfigModule } from '../config/config.module.js';
import type { Database } from '../config/database.js';
import type { Env } from '../config/env.js';
import { migrate } from '../config/migrate.js';
import { printStatus } from './output.js';

@Module({})
class CommandModule {}

/** Migrates the database and calls `act` with services of the application. No routes are served, and no jobs run. */
export async function withServices(
  env: Env,
  database: Database,
  { imports = [], providers = [] }: Pick<ModuleMetadata, 'imports' | 'providers'>,
  act: (services: INestApplicationContext) => Promise<void>,
): Promise<void> {
  await migrate(database.url, printStatus);
  const services = await NestFactory.createApplicationContext(
    { module: CommandModule, imports: [ConfigModule.forRoot(env, database), ...imports], providers },
    { logger: ['error', 'fatal'], abortOnError: false },
  );
  try {
    await act(services);
  } finally {
    await services.close();
  }
}
