import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfPresent } from '../../src/common/files.js';
import { locateCluster } from '../../src/database/embedded-postgres/cluster.js';
import { findServer } from '../../src/database/embedded-postgres/server.js';
import { buildDatabaseUrl } from '../../src/database/embedded-postgres/supervisor-connection.js';

/** Returns the connection string of the embedded database that runs in a DATA_DIR; undefined if no database runs. */
export async function findEmbeddedDatabaseUrl(dataDir: string): Promise<string | undefined> {
  const server = await findServer(await locateCluster(dataDir));
  if (server === undefined) return undefined;
  return buildDatabaseUrl(server.port, (await readFile(join(dataDir, 'postgres-password'), 'utf8')).trim());
}

/** Returns the process id in the first line of the embedded server's pid file. A killed server leaves its pid file behind. */
export async function findServerPid(dataDir: string): Promise<number | undefined> {
  const { folder } = await locateCluster(dataDir);
  const pidFile = await readIfPresent(join(folder, 'postmaster.pid'));
  return pidFile === undefined ? undefined : parseInt(pidFile);
}
