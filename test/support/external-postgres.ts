import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { built } from './built.js';

/** A PostgreSQL server outside the service, for DATABASE_URL; the test stops and starts it as an operator would. */
export interface ExternalPostgres {
  /** The same across restarts. */
  readonly url: string;
  /** What `pg_ctl stop -m immediate` does: every session is cut, nothing is written any more. */
  crash(): Promise<void>;
  /** Starts it after `crash`. */
  up(): Promise<void>;
  /** Stops it for good and removes its data. */
  close(): Promise<void>;
}

export async function startExternalPostgres(): Promise<ExternalPostgres> {
  const { SERVER_SETTINGS, startEmbeddedPostgres } = await built('src/config/embedded-postgres.js');
  const { openCluster } = await built('src/config/embedded-postgres/cluster.js');
  const { run } = await built('src/config/embedded-postgres/run.js');
  const { startServer, stopServer } = await built('src/config/embedded-postgres/server.js');
  const dataDir = await mkdtemp(join(tmpdir(), 'bakery-external-'));
  await chmod(dataDir, 0o755);
  // The service's own supervisor makes the cluster, its database and its user, and leaves.
  const supervised = await startEmbeddedPostgres({ dataDir, log: () => undefined });
  const { url } = supervised;
  await supervised.stop();
  const cluster = await openCluster(dataDir, () => undefined);
  const up = () => startServer(cluster, { ...SERVER_SETTINGS, port: new URL(url).port });
  await up();
  return {
    url,
    up,
    crash: () =>
      run(join(cluster.bin, 'pg_ctl'), ['stop', '-m', 'immediate', '-D', cluster.folder], cluster.runAs),
    close: async () => {
      await stopServer(cluster);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
