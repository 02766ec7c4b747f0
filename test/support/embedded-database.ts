import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { built } from './built.js';

/** Connection string of the embedded database that runs in a DATA_DIR; undefined when none runs. */
export async function embeddedDatabaseUrl(dataDir: string): Promise<string | undefined> {
  const { locate } = await built('src/config/embedded-postgres/location.js');
  const { findServer } = await built('src/config/embedded-postgres/server.js');
  const { databaseUrl } = await built('src/config/embedded-postgres/session.js');
  const server = await findServer(await locate(dataDir));
  if (server === undefined) return undefined;
  return databaseUrl(server.port, (await readFile(join(dataDir, 'postgres-password'), 'utf8')).trim());
}

/** Process number of the embedded server of a DATA_DIR, also if it was killed; undefined when it was stopped. */
export async function embeddedServerOf(dataDir: string): Promise<number | undefined> {
  const { locate } = await built('src/config/embedded-postgres/location.js');
  const { folder } = await locate(dataDir);
  const claim = await readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => undefined);
  return claim === undefined ? undefined : parseInt(claim);
}
