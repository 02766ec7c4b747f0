import { NestFactory } from '@nestjs/core';
import { randomUUID } from 'node:crypto';
import { AppModule } from './app.module.js';
import { Database } from './config/database.js';
import { readEnv } from './config/env.js';
import { buildOpenApiDocument } from './openapi.js';

/** Fixed settings, so that the document is the same on every machine. */
const SETTINGS = {
  NODE_ENV: 'development',
  JWT_ACCESS_SECRET: randomUUID(),
  JWT_REFRESH_SECRET: randomUUID(),
  DATABASE_URL: 'postgresql://nobody@127.0.0.1/nothing',
};

/** Prints the OpenAPI document (JSON) of this build. Nest's preview creates no provider, so no database is needed. */
async function main(): Promise<void> {
  const env = readEnv(SETTINGS);
  const app = await NestFactory.create(AppModule.forRoot(env, new Database(SETTINGS.DATABASE_URL, false)), {
    preview: true,
    abortOnError: false,
    logger: ['error', 'fatal'],
  });
  app.setGlobalPrefix('api');
  await app.init();
  process.stdout.write(`${JSON.stringify(buildOpenApiDocument(app), null, 2)}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
});
