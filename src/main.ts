import type { NestExpressApplication } from '@nestjs/platform-express';
import { createLogger, routeConsole } from './common/logging.js';
import { openDatabase, type OpenDatabase } from './config/open-database.js';
import { loadDotEnv, readEnv } from './config/env.js';
import { SettingsError } from './config/settings-reader.js';

async function main(): Promise<void> {
  loadDotEnv();
  const env = readEnv();
  const logger = createLogger(env);
  routeConsole(logger);
  let database: OpenDatabase | undefined;
  let app: NestExpressApplication | undefined;
  let stopApp: (app: NestExpressApplication) => Promise<void>;
  let stopping: Promise<void> | undefined;

  const stop = (reason: string): void => {
    stopping ??= (async () => {
      logger.info(`stopping: ${reason}`);
      if (app !== undefined) await stopApp(app);
      await database?.close();
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

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof SettingsError ? error.message : String(error)}\n`);
  process.exit(1);
});
