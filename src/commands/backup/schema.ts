import { migrate, readMigrationStatus, revertLastMigration } from '../../config/migrate.js';
import { warn } from '../command-line.js';
import { withClient } from '../with-client.js';

/** Migrates an empty database to a certain schema and runs a task on it. Restores the former schema after an error. */
export async function withSchemaOf<T>(
  databaseUrl: string,
  names: readonly string[],
  act: () => Promise<T>,
): Promise<T> {
  const { applied: before } = await readMigrationStatus(databaseUrl);
  try {
    await setSchema(databaseUrl, names);
    return await act();
  } catch (error) {
    try {
      await setSchema(databaseUrl, before);
      if (before.length === 0) await dropEmptySchema(databaseUrl);
    } catch (failure) {
      warn(`the former schema could not be restored; the tables are empty: ${String(failure)}`);
    }
    throw error;
  }
}

async function setSchema(databaseUrl: string, names: readonly string[]): Promise<void> {
  while ((await readMigrationStatus(databaseUrl)).applied.some((name) => !names.includes(name)))
    await revertLastMigration(databaseUrl, warn);
  await migrate(databaseUrl, warn, names);
}

/** Drops the list of migrations and the job queue, which no migration drops. */
async function dropEmptySchema(databaseUrl: string): Promise<void> {
  await withClient(databaseUrl, (client) =>
    client.query('DROP TABLE IF EXISTS migrations; DROP SCHEMA IF EXISTS graphile_worker CASCADE'),
  );
}
