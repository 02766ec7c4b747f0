import { once } from 'node:events';
import type { Server } from 'node:http';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import { AppModule } from './app.module.js';
import { AdminAccountsService } from './auth/admin-accounts.service.js';
import { sendFailure } from './common/errors/fail-envelope.filter.js';
import { failures } from './common/errors/failures.js';
import { LimitedExpressAdapter } from './common/http/http-adapter.js';
import { addMiddleware } from './common/http/middleware.js';
import { createNestLogger } from './common/observability/logging.js';
import { Env } from './config/env.js';
import type { Database } from './database/database.js';
import { JobsService } from './jobs/jobs.service.js';
import { serveOpenApi } from './openapi.js';

const DRAIN_MS = 8000;

export const APP_OPTIONS = {
  // `addMiddleware` adds only the JSON parser; Nest's default would also parse HTML forms.
  bodyParser: false,
  // Payment notifications are stored exactly as they were sent.
  rawBody: true,
  // Otherwise Nest would end the process itself, and `serve` could not log the reason.
  abortOnError: false,
} as const;

/** Creates the service, ready to listen, and starts its job queue. The migrations of the database must have run. */
export async function createApp(
  env: Env,
  database: Database,
  logger: Logger,
): Promise<NestExpressApplication> {
  const app = await NestFactory.create<NestExpressApplication>(
    AppModule.forRoot(env, database),
    new LimitedExpressAdapter(),
    { ...APP_OPTIONS, logger: createNestLogger(logger) },
  );
  await startApp(app, logger);
  return app;
}

/** Adds the middleware, initializes the application, ensures its administrator and starts its job queue. Also used by tests. */
export async function startApp(app: NestExpressApplication, logger: Logger): Promise<void> {
  const env = app.get(Env);
  app.setGlobalPrefix('api');
  addMiddleware(app, env, logger);
  serveOpenApi(app);

  try {
    await app.init();
    await app.get(AdminAccountsService).ensureAdmin(env);
  } catch (error) {
    // Close the pools: their connections must not outlive the database.
    await app.close().catch((failure: unknown) => {
      logger.error({ err: failure }, 'the application that did not start could not be closed');
    });
    throw error;
  }
  // Without this handler, an unknown path outside of /api would reach the callback in `LimitedExpressAdapter`, which is for
  // malformed URLs and sends 400.
  app.use((_request: Request, response: Response) => {
    sendFailure(response, failures.notFound());
  });
  app.get(JobsService).start();
}

/** Waits up to 8 seconds for running requests and up to 5 seconds for running jobs, then closes the queue and the pools. */
export async function stopApp(app: NestExpressApplication): Promise<void> {
  // Jobs and requests end in parallel, because a stop has to end within 10 seconds.
  app.get(JobsService).beginStop();
  await closeServer(app.getHttpServer());
  await app.close();
}

/** Stops accepting connections and waits for running requests. Closes all remaining connections after 8 seconds. */
async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  // `close` ends only connections that are idle now. A busy connection stays open for this time after its response.
  server.keepAliveTimeout = 1;
  server.close();
  const deadline = setTimeout(() => {
    server.closeAllConnections();
  }, DRAIN_MS);
  await closed;
  clearTimeout(deadline);
}
