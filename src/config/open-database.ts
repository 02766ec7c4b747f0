import { Database } from './database.js';
import { startEmbeddedPostgres } from './embedded-postgres.js';
import type { Env } from './env.js';

/** A database to use and, where this process supervises it, to stop. */
export class OpenDatabase extends Database {
  constructor(
    url: string,
    isExclusive: boolean,
    readonly close: () => Promise<void>,
  ) {
    super(url, isExclusive);
  }
}

/** The database of DATABASE_URL, or else an embedded PostgreSQL under DATA_DIR. */
export async function openDatabase(
  env: Pick<Env, 'databaseUrl' | 'dataDir'>,
  log: (message: string) => void,
): Promise<OpenDatabase> {
  if (env.databaseUrl !== undefined) return new OpenDatabase(env.databaseUrl, false, () => Promise.resolve());
  const postgres = await startEmbeddedPostgres({ dataDir: env.dataDir, log });
  return new OpenDatabase(postgres.url, true, () => postgres.stop());
}
