import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createLogger, routeConsole } from './common/logging.js';
import type { Env } from './config/env.js';
import { openDatabase } from './config/database.js';
import { startFailure } from './start-failure.js';

/** The process ends within 10 s of SIGTERM (contract 16); the rest is for what cannot be waited for. */
const STOP_MS = 9_500;

/** Runs the service until it is told to stop, then ends the process. @param stopTracing if tracing is on */
export async function serve(env: Env, stopTracing?: () => Promise<void>): Promise<void> {
  const logger = createLogger(env);
  routeConsole(logger);

  const stop = new AbortController();
  // Even if something is still open: a database that does not answer would hold the process longer.
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

  /** What was started, to be closed in reverse order. */
  const started: (() => Promise<void>)[] = [];
  if (stopTracing !== undefined) started.push(stopTracing);
  try {
    // Reading its modules takes the service longer than anything else; the database starts meanwhile.
    const modules = Promise.all([import('./app.setup.js'), import('./config/migrate.js')]);
    modules.catch(() => undefined); // Awaited below, unless the database could not be opened.
    const database = await openDatabase(env, (message) => {
      logger.info(message);
    });
    started.push(() => database.close());
    const [{ createApp, stopApp }, { migrate }] = await modules;
    stop.signal.throwIfAborted();
    await migrate(database.url, (message) => {
      logger.warn(message);
    });
    stop.signal.throwIfAborted();
    const app = await createApp(env, database, logger);
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
