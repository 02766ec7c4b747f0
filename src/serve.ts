import type { NestExpressApplication } from '@nestjs/platform-express';
import { createLogger, routeConsole } from './common/logging.js';
import type { RunningTracing } from './common/tracing.js';
import type { Env } from './config/env.js';
import { openDatabase, type OpenDatabase } from './config/open-database.js';

/** Runs the service until it is told to stop; ends the process. @param tracing if it is on */
export async function serve(env: Env, tracing: RunningTracing | undefined): Promise<void> {
  const logger = createLogger(env);
  routeConsole(logger);
  tracing?.onExportFailure(() => {
    logger.warn('traces could not be sent to the collector and are lost; requests are not concerned');
  });
  let database: OpenDatabase | undefined;
  let app: NestExpressApplication | undefined;
  let stopApp: (app: NestExpressApplication) => Promise<void>;
  let stopping: Promise<void> | undefined;

  const stop = (reason: string): void => {
    stopping ??= (async () => {
      logger.info(`stopping: ${reason}`);
      if (app !== undefined) await stopApp(app);
      await Promise.all([database?.close(), tracing?.stop()]);
      logger.info('stopped');
      process.exit(0);
    })();
  };
  process.on('SIGTERM', () => {
    stop('SIGTERM');
  });
  process.on('SIGINT', () => {
    stop('SIGINT');
  });

  try {
    const opening = openDatabase(env, (message) => {
      logger.info(message);
    });
    // Reading its modules takes the service longer than anything else; the database starts meanwhile.
    const modules = Promise.all([import('./app.setup.js'), import('./config/migrate.js')]);
    modules.catch(() => undefined); // Awaited below, unless the database could not be opened.
    database = await opening;
    const [setup, { migrate }] = await modules;
    stopApp = setup.stopApp;
    await migrate(database.url, (message) => {
      logger.warn(message);
    });
    app = await setup.createApp(env, database, logger);
    await app.listen(env.port, env.host);
    logger.info(`listening on ${await app.getUrl()}; API documentation at ${env.publicUrl}/api/docs`);
  } catch (error) {
    if (stopping === undefined) {
      logger.fatal({ err: error }, 'the service could not start');
      await app?.close();
      await database?.close();
      process.exit(1);
    }
  }
}
