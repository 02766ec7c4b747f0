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
  const { locateCluster } = await built('src/config/embedded-postgres/cluster.js');
  const { findBinaries } = await built('src/config/embedded-postgres/binaries.js');
  const { launch, stopPostmaster } = await built('src/config/embedded-postgres/postmaster.js');
  const dataDir = await mkdtemp(join(tmpdir(), 'bakery-external-'));
  await chmod(dataDir, 0o755);
  // The service's own supervisor makes the cluster, its database and its user, and leaves.
  const supervised = await startEmbeddedPostgres({ dataDir, log: () => undefined });
  const { url } = supervised;
  await supervised.stop();
  const cluster = await locateCluster(dataDir);
  const { postgres } = await findBinaries(cluster.runAs, cluster.copyFolder);
  let pid = 0;
  const up = async (): Promise<void> => {
    ({ pid } = await launch(cluster, postgres, { ...SERVER_SETTINGS, port: new URL(url).port }));
  };
  const stop = async (signal: 'SIGINT' | 'SIGQUIT'): Promise<void> => {
    process.kill(pid, signal);
    await stopPostmaster(pid, cluster);
  };
  await up();
  return {
    url,
    up,
    crash: () => stop('SIGQUIT'),
    close: async () => {
      await stop('SIGINT');
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
