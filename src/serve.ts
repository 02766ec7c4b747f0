import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createLogger, routeConsole } from './common/logging.js';
import { PrimaryWait } from './common/primary-wait.js';
import type { Env } from './config/env.js';
import { openDatabase } from './config/database.js';
import { startFailure } from './start-failure.js';

/** The process must end within 10 s of SIGTERM (contract 16), even if a part of it does not stop. */
const STOP_MS = 9_500;

/**
 * Runs the service until SIGTERM or SIGINT, then ends the process.
 * @param stopTracing if tracing is on
 */
export async function serve(env: Env, stopTracing?: () => Promise<void>): Promise<void> {
  const logger = createLogger(env);
  routeConsole(logger);
  for (const warning of env.warnings) logger.warn(warning);

  const stop = new AbortController();
  // A database that does not respond would keep the process alive for longer.
  stop.signal.onabort = () => {
    setTimeout(() => {
      logger.warn('not everything ended in time and is left as it is');
      process.exit();
    }, STOP_MS).unref();
  };
  for (const signal of ['SIGTERM', 'SIGINT'])
    process.on(signal, () => {
      if (!stop.signal.aborted) logger.info(`stopping: ${signal}`);
      stop.abort();
    });

  /** Functions that stop the started parts; called in reverse order. */
  const started: (() => Promise<void>)[] = [];
  if (stopTracing !== undefined) started.push(stopTracing);
  try {
    // Loading its modules is the longest part of a start. The database starts meanwhile.
    const modules = Promise.all([import('./app.setup.js'), import('./config/migrate.js')]);
    modules.catch(() => undefined); // Awaited below, unless the database could not be opened.
    const primary = new PrimaryWait((message) => {
      logger.warn(message);
    }, stop.signal);
    const database = await primary.retry(() =>
      openDatabase(env, (message) => {
        logger.info(message);
      }),
    );
    started.push(() => database.close());
    const [{ createApp, stopApp }, { migrate }] = await modules;
    stop.signal.throwIfAborted();
    const app = await primary.retry(async () => {
      await migrate(database.url, (message) => {
        logger.warn(message);
      });
      stop.signal.throwIfAborted();
      return await createApp(env, database, logger);
    });
    started.push(() => stopApp(app));
    stop.signal.throwIfAborted();
    const server = await app.listen(env.port, env.host);
    const { address, port } = server.address() as AddressInfo;
    logger.info(`listening on ${address} port ${port}; API documentation at ${await app.getUrl()}/api/docs`);
    if (!stop.signal.aborted) await once(stop.signal, 'abort');
  } catch (error) {
    if (!stop.signal.aborted) {
      logger.fatal(`the service could not start: ${startFailure(error, env)}`);
      logger.debug({ err: error }, 'why the service could not start');
      process.exitCode = 1;
      stop.abort();
    }
  }

  for (const close of started.reverse()) {
    try {
      await close();
    } catch (error) {
      logger.error({ err: error }, 'a part of the service did not stop cleanly');
      process.exitCode = 1;
    }
  }
  if (process.exitCode === undefined) logger.info('stopped');
  process.exit();
}
