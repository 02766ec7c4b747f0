import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import cookieParser from 'cookie-parser';
import helmet from 'helmet';
import type { Logger } from 'pino';
import { AppModule } from './app.module.js';
import { trackConnections } from './common/graceful-stop.js';
import { NestLogger, requestLog } from './common/logging.js';
import { corsOriginMatcher, originCheck } from './common/origin-check.js';
import { requestId } from './common/request-id.js';
import { answerUnparsableRequests } from './common/unparsable-requests.js';
import type { Database } from './config/database.js';
import type { Env } from './config/env.js';
import { serveOpenApi } from './openapi.js';

const SECOND = 1000;

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
  const app = await NestFactory.create<NestExpressApplication>(AppModule.forRoot(env, database), {
    logger: new NestLogger(logger),
    bodyParser: false,
    abortOnError: false,
  });
  const isCorsOrigin = corsOriginMatcher(env);

  app.setGlobalPrefix('api');
  app.use(requestId);
  app.use(requestLog(logger));
  app.use(helmet());
  app.enableCors({
    origin: (origin: string | undefined, done: (error: null, allowed: boolean) => void) => {
      done(null, origin !== undefined && isCorsOrigin(origin));
    },
    credentials: true,
    exposedHeaders: ['X-Request-Id'],
    maxAge: 600,
  });
  app.use(originCheck(env));
  app.use(cookieParser());
  serveOpenApi(app, env);

  const server = app.getHttpServer();
  server.headersTimeout = 10 * SECOND;
  server.requestTimeout = 60 * SECOND;
  answerUnparsableRequests(server);
  trackConnections(server);
  await app.init();
  return app;
}
