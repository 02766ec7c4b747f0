import { Database } from './database.js';
import { refuseUnfinishedRestore } from './embedded-postgres/backup/unfinished-restore.js';
import { DataDirInUseError, runningPostgresUrl, startEmbeddedPostgres } from './embedded-postgres.js';
import type { Env } from './env.js';

type DatabaseSettings = Pick<Env, 'databaseUrl' | 'dataDir'>;
type Log = (message: string) => void;

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
  { databaseUrl, dataDir }: DatabaseSettings,
  log: Log,
): Promise<OpenDatabase> {
  if (databaseUrl !== undefined) return notOurs(databaseUrl);
  await refuseUnfinishedRestore(dataDir);
  const postgres = await startEmbeddedPostgres({ dataDir, log });
  return new OpenDatabase(postgres.url, true, () => postgres.stop());
}

/** The same for a command: where the service runs already, the embedded PostgreSQL is shared with it. */
export async function openRunningDatabase(settings: DatabaseSettings, log: Log): Promise<OpenDatabase> {
  try {
    return await openDatabase(settings, log);
  } catch (error) {
    if (!(error instanceof DataDirInUseError)) throw error;
    return notOurs(await runningPostgresUrl(settings.dataDir));
  }
}

function notOurs(url: string): OpenDatabase {
  return new OpenDatabase(url, false, () => Promise.resolve());
}
