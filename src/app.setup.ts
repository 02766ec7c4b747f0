import { once } from 'node:events';
import type { Server } from 'node:http';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import type { Logger } from 'pino';
import { AppModule } from './app.module.js';
import { failEnvelope } from './common/errors/fail-envelope.filter.js';
import { failures } from './common/errors/failures.js';
import { LimitedExpressAdapter, rejectInvalidHeaders } from './common/http/http-adapter.js';
import { isCorsOrigin, originCheck } from './common/http/origin-check.js';
import { identifyRequest } from './common/http/request-info.js';
import { createNestLogger } from './common/observability/logging.js';
import { requestLog } from './common/observability/request-log.js';
import { Env } from './config/env.js';
import type { Database } from './database/database.js';
import { JobsService } from './jobs/jobs.service.js';
import { serveOpenApi } from './openapi.js';

/** Largest JSON body in bytes (contract 8). */
const JSON_BODY_LIMIT = 100 * 1024;
const DRAIN_MS = 8000;
const IDLE_CHECK_MS = 50;

export const APP_OPTIONS = {
  // `startApp` parses JSON only; Nest's default would also parse HTML forms.
  bodyParser: false,
  // Payment notifications are stored exactly as they were sent.
  rawBody: true,
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

/** Adds the middleware, initializes the application, and starts its job queue. Does not listen yet. Also used by tests. */
export async function startApp(app: NestExpressApplication, logger: Logger): Promise<void> {
  const env = app.get(Env);
  app.set('trust proxy', env.trustedProxies);
  app.setGlobalPrefix('api');
  app.use(identifyRequest);
  app.use(requestLog(logger));
  // `upgrade-insecure-requests` would break the API page of a service that is reached by plain http.
  app.useSecurityHeaders({ contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } } });
  app.enableCors({
    origin: (origin: string | undefined, done: (error: null, isAllowed: boolean) => void) => {
      done(null, origin !== undefined && isCorsOrigin(env, origin));
    },
    credentials: true,
    // A browser hides these headers from pages of another origin by default.
    exposedHeaders: ['X-Request-Id', 'ETag'],
    maxAge: 600, // seconds for which a browser may cache the response to a preflight request
  });
  app.use(rejectInvalidHeaders);
  app.use(originCheck(env));
  app.use(rejectLongJson);
  app.useBodyParser('json', { limit: JSON_BODY_LIMIT });
  serveOpenApi(app);

  try {
    await app.init();
  } catch (error) {
    // Close the pools: their connections must not outlive the database.
    await app.close().catch((failure: unknown) => {
      logger.error({ err: failure }, 'the application that did not start could not be closed');
    });
    throw error;
  }
  app.get(JobsService, { strict: false }).start();
  // Without this handler, an unknown path outside of /api would reach the callback in `LimitedExpressAdapter`, which is for
  // malformed URLs and sends 400.
  app.use((_request: Request, response: Response) => {
    response.status(404).json(failEnvelope(failures.notFound()));
  });
}

/** Rejects a JSON body by its Content-Length, because the body parser would read the whole body first. */
function rejectLongJson(request: Request, _response: Response, next: NextFunction): void {
  const isTooLong = Number(request.headers['content-length'] ?? 0) > JSON_BODY_LIMIT;
  next(isTooLong && request.is('json') ? failures.tooLarge() : undefined);
}

/** Waits for running requests and jobs for at most 8 seconds, then closes the queue and the pools. */
export async function stopApp(app: NestExpressApplication): Promise<void> {
  // Jobs and requests end in parallel, because a stop has to end within 10 seconds.
  app.get(JobsService, { strict: false }).beginStop();
  await closeServer(app.getHttpServer());
  await app.close();
}

/** Stops accepting connections and waits for running requests. Closes all remaining connections after 8 seconds. */
async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  // `close` ends only connections that are idle now. A busy connection stays open after its response.
  const idle = setInterval(() => {
    server.closeIdleConnections();
  }, IDLE_CHECK_MS);
  const deadline = setTimeout(() => {
    server.closeAllConnections();
  }, DRAIN_MS);
  await closed;
  clearInterval(idle);
  clearTimeout(deadline);
}
