import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import cookieParser from 'cookie-parser';
import type { Request, Response } from 'express';
import helmet from 'helmet';
import type { Logger } from 'pino';
import { AppModule } from './app.module.js';
import { closeServer } from './common/close-server.js';
import { failEnvelope } from './common/fail-envelope.filter.js';
import { failures } from './common/errors.js';
import { HttpAdapter, requireSaneHeaders } from './common/http-adapter.js';
import { nestLogger } from './common/logging.js';
import { corsOriginMatcher, originCheck } from './common/origin-check.js';
import { requestId } from './common/request-id.js';
import { requestLog } from './common/request-log.js';
import type { Database } from './config/database.js';
import type { Env } from './config/env.js';
import { JobsService } from './jobs/jobs.service.js';
import { serveOpenApi } from './openapi.js';

/** Largest JSON body in bytes (contract 8). */
const JSON_BODY_LIMIT = 100 * 1024;

/**
 * The service, ready to listen: for `main.ts` and the tests alike.
 *
 * @param database one whose migrations have run
 */
export async function createApp(
  env: Env,
  database: Database,
  logger: Logger,
): Promise<NestExpressApplication> {
  // Loaded only where it is wanted.
  const more =
    env.metricsPort === undefined ? [] : [(await import('./metrics/metrics.module.js')).MetricsModule];
  const app = await NestFactory.create<NestExpressApplication>(
    AppModule.forRoot(env, database, more),
    new HttpAdapter(),
    {
      logger: nestLogger(logger),
      // Only JSON is parsed for every route, below; Nest's default would parse forms of pages as well.
      bodyParser: false,
      rawBody: true,
      abortOnError: false,
    },
  );
  const isCorsOrigin = corsOriginMatcher(env);

  app.set('trust proxy', env.trustedProxies);
  app.setGlobalPrefix('api');
  app.use(requestId);
  app.use(requestLog(logger));
  // Where the service is reached by plain http, `upgrade-insecure-requests` would leave the API page without its parts.
  app.use(helmet({ contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } } }));
  app.enableCors({
    origin: (origin: string | undefined, done: (error: null, allowed: boolean) => void) => {
      done(null, origin !== undefined && isCorsOrigin(origin));
    },
    credentials: true,
    // Headers that clients are told to read. A browser hides all others from a page of another origin.
    exposedHeaders: ['X-Request-Id', 'ETag'],
    maxAge: 600,
  });
  app.use(requireSaneHeaders);
  app.use(originCheck(env));
  app.useBodyParser('json', { limit: JSON_BODY_LIMIT });
  app.use(cookieParser());
  serveOpenApi(app);

  try {
    await app.init();
  } catch (error) {
    // The pools have connections; they must not outlive the database.
    await app.close();
    throw error;
  }
  app.get(JobsService, { strict: false }).start();
  // Nest answers unknown paths under /api only. For all others Express would answer a page with a stack.
  app.use((_request: Request, response: Response) => {
    response.status(404).json(failEnvelope(failures.notFound()));
  });
  return app;
}

/** Lets running requests and jobs finish, within about 8 seconds, then closes the queue and the pools. */
export async function stopApp(app: NestExpressApplication): Promise<void> {
  // Jobs end while requests do: one after the other would take longer than a stop may.
  app.get(JobsService, { strict: false }).stopTaking();
  await closeServer(app.getHttpServer());
  await app.close();
}
