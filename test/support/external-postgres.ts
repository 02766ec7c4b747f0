import { join } from 'node:path';
import { openCluster } from '../../src/database/embedded-postgres/cluster.js';
import { run } from '../../src/database/embedded-postgres/run.js';
import { startServer, stopServer } from '../../src/database/embedded-postgres/server.js';
import { startEmbeddedPostgres } from '../../src/database/embedded-postgres.js';
import { createWorldReadableFolder, removeFolder } from './process.js';

/** Starts a PostgreSQL server for the setting DATABASE_URL. The returned functions control the server. */
export async function startExternalPostgres() {
  const dataDir = await createWorldReadableFolder('bakery-external-');
  // Let the embedded PostgreSQL of the service create the cluster, the database and the user.
  const embedded = await startEmbeddedPostgres({ dataDir, log: () => undefined });
  const { url } = embedded;
  await embedded.stop();
  const cluster = await openCluster(dataDir, () => undefined);
  const up = () =>
    startServer(cluster, { port: new URL(url).port }, { deadline: AbortSignal.timeout(120_000) });
  await up();
  return {
    url,
    up,
    /** Ends every session and stops the server without a checkpoint. */
    crash: () =>
      run(join(cluster.bin, 'pg_ctl'), ['stop', '-m', 'immediate', '-D', cluster.folder], cluster.runAs),
    close: async () => {
      await stopServer(cluster);
      await removeFolder(dataDir);
    },
  };
}
