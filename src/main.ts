import type { NestExpressApplication } from '@nestjs/platform-express';
import { createApp } from './app.setup.js';
import { createLogger, routeConsole } from './common/logging.js';
import { stopGracefully } from './common/graceful-stop.js';
import { openDatabase, type OpenDatabase } from './config/open-database.js';
import { loadDotEnv, readEnv } from './config/env.js';
import { migrate } from './config/migrate.js';
import { SettingsError } from './config/settings-reader.js';
import { JobsService } from './jobs/jobs.service.js';

async function main(): Promise<void> {
  loadDotEnv();
  const env = readEnv();
  const logger = createLogger(env);
  routeConsole(logger);
  let database: OpenDatabase | undefined;
  let app: NestExpressApplication | undefined;
  let stopping: Promise<void> | undefined;

  const stop = (reason: string): void => {
    stopping ??= (async () => {
      logger.info(`stopping: ${reason}`);
      if (app !== undefined) {
        // Side by side: one after the other, slow requests and slow jobs would take longer than a stop may.
        app.get(JobsService, { strict: false }).stopTaking();
        await stopGracefully(app);
      }
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
    database = await openDatabase(env, (message) => {
      logger.info(message);
    });
    await migrate(database.url);
    app = await createApp(env, database, logger);
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
