import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { errorMessage } from './common/errors/error-info.js';
import { createLogger, redirectConsole } from './common/observability/logging.js';
import type { Env } from './config/env.js';
import { openDatabase } from './database/database.js';
import { PRIMARY_WAIT_MS, retryUntilPrimary } from './database/retry-until-primary.js';

type StopPart = () => Promise<void>;

/** The process must end within 10 s of SIGTERM (contract 16), even if a part of the service does not stop. */
const STOP_MS = 9_500;

/**
 * Runs the service until `stop` is aborted, then ends the process.
 * @param stop aborted by SIGTERM or SIGINT. The reason is the name, for example `SIGTERM`
 */
export async function serve(env: Env, stop: AbortSignal, stopTracing?: StopPart): Promise<void> {
  const logger = createLogger(env);
  redirectConsole(logger);
  for (const warning of env.warnings) logger.warn(warning);

  const handleStop = () => {
    logger.info(`stopping: ${stop.reason}`);
    limitStopTime(logger);
  };
  if (stop.aborted) handleStop();
  else stop.addEventListener('abort', handleStop);
  const stopParts = stopTracing === undefined ? [] : [stopTracing];
  try {
    await start(env, logger, stop, stopParts);
    if (!stop.aborted) await once(stop, 'abort');
  } catch (error) {
    if (!stop.aborted) {
      stop.removeEventListener('abort', handleStop);
      logger.fatal(`the service could not start: ${errorMessage(error)}`);
      logger.debug({ err: error }, 'why the service could not start');
      process.exitCode = 1;
      limitStopTime(logger); // for the parts that have started
    }
  }

  for (const stopPart of stopParts) {
    try {
      await stopPart();
    } catch (error) {
      logger.error({ err: error }, 'a part of the service did not stop cleanly');
      process.exitCode = 1;
    }
  }
  if (process.exitCode === undefined) logger.info('stopped');
  process.exit();
}

/** Ends the process in 9.5 seconds if it still runs then. */
function limitStopTime(logger: Logger): void {
  setTimeout(() => {
    logger.warn('a part of the service did not stop in time: the process ends without it');
    process.exit();
  }, STOP_MS).unref();
}

/** Starts the service. Prepends the stop function of each part that has started to `stopParts`, also if a later part fails. */
async function start(env: Env, logger: Logger, stopping: AbortSignal, stopParts: StopPart[]): Promise<void> {
  const warn = logger.warn.bind(logger);
  // Loads the modules while the database starts.
  const modules = Promise.all([import('./app.setup.js'), import('./database/migrate.js')]);
  modules.catch(() => undefined); // Without a handler, a rejection before the `await` below would end the process.
  const deadline = performance.now() + PRIMARY_WAIT_MS;
  const open = () => openDatabase(env, logger.info.bind(logger), stopping);
  const database = await retryUntilPrimary(open, warn, deadline, stopping);
  if (database.close !== undefined) stopParts.unshift(database.close);
  const [{ createApp, stopApp }, { migrate }] = await modules;
  const migrateAndCreate = async () => {
    stopping.throwIfAborted();
    await migrate(database.url, warn);
    stopping.throwIfAborted();
    return createApp(env, database, logger);
  };
  const app = await retryUntilPrimary(migrateAndCreate, warn, deadline, stopping);
  stopParts.unshift(() => stopApp(app));
  stopping.throwIfAborted();
  const server = await app.listen(env.port, env.host).catch((error: unknown) => {
    throw new Error(`cannot listen on HOST ${env.host} and PORT ${env.port}: ${errorMessage(error)}`);
  });
  const { address, port } = server.address() as AddressInfo;
  logger.info(`listening on ${address} port ${port}; API documentation at ${await app.getUrl()}/api/docs`);
}
