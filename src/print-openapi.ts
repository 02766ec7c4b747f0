import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';
import { Database } from './config/database.js';
import { readEnv } from './config/env.js';
import { openApiDocument } from './openapi.js';

/** Settings that the document does not depend on, so that it is the same on every machine. */
const SETTINGS = {
  NODE_ENV: 'development',
  JWT_ACCESS_SECRET: 'nothing is signed while the document is written: 1',
  JWT_REFRESH_SECRET: 'nothing is signed while the document is written: 2',
  DATABASE_URL: 'postgresql://nobody@127.0.0.1/nothing',
};

/** Prints the OpenAPI document (JSON) of this build. Needs no database: Nest's preview makes no provider. */
async function main(): Promise<void> {
  const env = readEnv(SETTINGS);
  const app = await NestFactory.create(AppModule.forRoot(env, new Database(SETTINGS.DATABASE_URL, false)), {
    preview: true,
    abortOnError: false,
    logger: ['error', 'fatal'],
  });
  app.setGlobalPrefix('api');
  await app.init();
  process.stdout.write(`${JSON.stringify(openApiDocument(app), null, 2)}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
});
