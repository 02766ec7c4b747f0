import { runMigrations as runJobMigrations } from 'graphile-worker';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from './data-source.js';

/** Any number, as long as every version of the service uses the same one. */
const MIGRATION_LOCK = 7_225_001;
const CONNECT_DEADLINE_MS = 10_000;

/**
 * Brings the schema of the service and of its job queue up to date. Processes that start together take turns: the
 * lock belongs to a session, so it is free again the moment its holder is gone.
 */
export async function migrate(databaseUrl: string): Promise<void> {
  const lock = new Client({
    connectionString: databaseUrl,
    application_name: 'bakery-migrations',
    connectionTimeoutMillis: CONNECT_DEADLINE_MS,
  });
  lock.on('error', () => {
    // The statement that runs reports it; without a listener Node would end the process.
  });
  await lock.connect();
  try {
    await lock.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await runJobMigrations({ connectionString: databaseUrl });
    const options = dataSourceOptions(databaseUrl);
    const dataSource = new DataSource({
      ...options,
      // A migration may rewrite a table; requests may not take that long.
      extra: { application_name: 'bakery-migrations' },
    });
    await dataSource.initialize();
    try {
      await dataSource.runMigrations({ transaction: 'each' });
    } finally {
      await dataSource.destroy();
    }
  } finally {
    await lock.end();
  }
}
