import type { NestExpressApplication } from '@nestjs/platform-express';
import { endsBefore } from './common/ends-before.js';
import { createLogger, routeConsole } from './common/logging.js';
import type { RunningTracing } from './common/tracing.js';
import type { Env } from './config/env.js';
import { openDatabase, type OpenDatabase } from './config/open-database.js';

/** decisions.md, Operation: exit within 10 s of SIGTERM. Milliseconds, the rest being for what cannot be waited for. */
const STOP_MS = 9_700;
/** As much of it may pass before the embedded database has its turn. */
const APP_STOP_MS = 9_000;

/** Runs the service until it is told to stop; ends the process. @param tracing if it is on */
export async function serve(env: Env, tracing: RunningTracing | undefined): Promise<void> {
  const logger = createLogger(env);
  routeConsole(logger);
  tracing?.onExportFailure(() => {
    logger.warn('traces could not be sent to the collector and are lost; requests are not concerned');
  });
  let opening: Promise<OpenDatabase> | undefined;
  let app: NestExpressApplication | undefined;
  let stopApp: (app: NestExpressApplication) => Promise<void>;
  let isStopping = false;

  const close = async (): Promise<void> => {
    const began = Date.now();
    const inTime = async (what: string, deadlineMs: number, work: Promise<void>): Promise<void> => {
      if (!(await endsBefore(began + deadlineMs, work)))
        logger.warn(`${what} did not end in time and is left as it is`);
    };
    try {
      if (app !== undefined) await inTime('what runs', APP_STOP_MS, stopApp(app));
    } finally {
      await Promise.all([
        // Also one that is just being started: nobody else would stop it.
        opening !== undefined && inTime('the database', STOP_MS, closeOpened(opening)),
        tracing !== undefined && inTime('sending traces', STOP_MS, tracing.stop()),
      ]);
    }
  };
  const stop = (reason: string): void => {
    if (isStopping) return;
    isStopping = true;
    logger.info(`stopping: ${reason}`);
    close().then(
      () => {
        logger.info('stopped');
        process.exit(0);
      },
      (error: unknown) => {
        logger.error({ err: error }, 'the service did not stop cleanly');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', () => {
    stop('SIGTERM');
  });
  process.on('SIGINT', () => {
    stop('SIGINT');
  });

  try {
    opening = openDatabase(env, (message) => {
      logger.info(message);
    });
    // Reading its modules takes the service longer than anything else; the database starts meanwhile.
    const modules = Promise.all([import('./app.setup.js'), import('./config/migrate.js')]);
    modules.catch(() => undefined); // Awaited below, unless the database could not be opened.
    const database = await opening;
    const [setup, { migrate }] = await modules;
    stopApp = setup.stopApp;
    await migrate(database.url, (message) => {
      logger.warn(message);
    });
    app = await setup.createApp(env, database, logger);
    await app.listen(env.port, env.host);
    logger.info(`listening on ${await app.getUrl()}; API documentation at ${env.publicUrl}/api/docs`);
  } catch (error) {
    // Widened: a signal may have come meanwhile, which the compiler cannot see.
    if (!(isStopping as boolean)) {
      logger.fatal({ err: error }, 'the service could not start');
      await app?.close();
      if (opening !== undefined) await closeOpened(opening);
      process.exit(1);
    }
  }
}

/** Closes a database, unless it could not be opened. */
async function closeOpened(opening: Promise<OpenDatabase>): Promise<void> {
  const database = await opening.catch(() => undefined); // Whoever opened it reports why.
  await database?.close();
}
