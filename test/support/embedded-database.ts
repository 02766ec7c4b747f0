import { built } from './built.js';

/** Connection string of the embedded database that runs in a DATA_DIR; undefined when none runs. */
export async function embeddedDatabaseUrl(dataDir: string): Promise<string | undefined> {
  const { clusterPasswords, locateCluster } = await built('src/config/embedded-postgres/cluster.js');
  const { findServer } = await built('src/config/embedded-postgres/postmaster.js');
  const { databaseUrl } = await built('src/config/embedded-postgres/session.js');
  const cluster = await locateCluster(dataDir);
  const server = await findServer(cluster);
  return server && databaseUrl(server.port, await clusterPasswords(cluster));
}

/** Process number of the embedded server of a DATA_DIR; undefined when none runs. */
export async function embeddedServerOf(dataDir: string): Promise<number | undefined> {
  const { locateCluster } = await built('src/config/embedded-postgres/cluster.js');
  const { readPidFile } = await built('src/config/embedded-postgres/postmaster.js');
  return (await readPidFile(await locateCluster(dataDir)))?.pid;
}
