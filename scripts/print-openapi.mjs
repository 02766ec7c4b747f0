// Prints the OpenAPI document (JSON) of the build. Nest's preview mode creates no providers, so no database is needed.
import { NestFactory } from '@nestjs/core';
import { randomUUID } from 'node:crypto';
import { AppModule } from '../dist/src/app.module.js';
import { readEnv } from '../dist/src/config/read-env.js';
import { buildOpenApiDocument } from '../dist/src/openapi.js';

/** Fixed settings, so that the document is the same on every machine. */
const SETTINGS = {
  NODE_ENV: 'development',
  JWT_ACCESS_SECRET: randomUUID(),
  JWT_REFRESH_SECRET: randomUUID(),
  DATABASE_URL: 'postgresql://nobody@127.0.0.1/nothing',
};

const database = { url: SETTINGS.DATABASE_URL };
const app = await NestFactory.create(AppModule.forRoot(readEnv(SETTINGS), database), {
  preview: true,
  abortOnError: false,
  logger: ['error', 'fatal'],
});
app.setGlobalPrefix('api');
await app.init();
process.stdout.write(`${JSON.stringify(buildOpenApiDocument(app), null, 2)}\n`);
