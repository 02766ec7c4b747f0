import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { built } from './built.js';

/** A PostgreSQL server outside the service, for DATABASE_URL; the test stops and starts it as an operator would. */
export class ExternalPostgres {
  #pid: number | undefined;

  private constructor(
    private readonly dataDir: string,
    /** The same across restarts. */
    readonly url: string,
    /** For what only a superuser may do. */
    readonly superuserUrl: string,
    private readonly launch: () => Promise<number>,
    private readonly end: (pid: number, signal: 'SIGINT' | 'SIGQUIT') => Promise<void>,
  ) {}

  /** Makes a cluster and starts a server on it. */
  static async start(): Promise<ExternalPostgres> {
    const { startEmbeddedPostgres } = await built('src/config/embedded-postgres.js');
    const dataDir = await mkdtemp(join(tmpdir(), 'bakery-external-'));
    await chmod(dataDir, 0o755);
    // The supervisor makes the cluster, its database and its user, and leaves.
    const supervised = await startEmbeddedPostgres({ dataDir, log: () => undefined });
    const { url } = supervised;
    await supervised.stop();
    return ExternalPostgres.#run(dataDir, url);
  }

  static async #run(dataDir: string, url: string): Promise<ExternalPostgres> {
    const { clusterPasswords, locateCluster, SUPERUSER } = await built(
      'src/config/embedded-postgres/cluster.js',
    );
    const { findBinaries } = await built('src/config/embedded-postgres/binaries.js');
    const { SERVER_SETTINGS } = await built('src/config/embedded-postgres.js');
    const { launch, stopPostmaster } = await built('src/config/embedded-postgres/postmaster.js');
    const cluster = await locateCluster(dataDir);
    const binaries = await findBinaries(cluster.runAs, cluster.copyFolder);
    const passwords = await clusterPasswords(cluster);
    const superuserUrl = Object.assign(new URL(url), { username: SUPERUSER, password: passwords.superuser });
    const settings = { ...SERVER_SETTINGS, port: new URL(url).port };
    const postgres = new ExternalPostgres(
      dataDir,
      url,
      superuserUrl.href,
      async () => (await launch(cluster, binaries.postgres, settings)).pid,
      async (pid, signal) => {
        process.kill(pid, signal);
        await stopPostmaster(pid, cluster);
      },
    );
    await postgres.up();
    return postgres;
  }

  /** Starts it after `crash`. @returns when it accepts connections */
  async up(): Promise<void> {
    this.#pid = await this.launch();
  }

  /** What `pg_ctl stop -m immediate` does: every session is cut, nothing is written any more. */
  async crash(): Promise<void> {
    await this.#stop('SIGQUIT');
  }

  /** Stops it for good and removes its data. */
  async close(): Promise<void> {
    await this.#stop('SIGINT');
    await rm(this.dataDir, { recursive: true, force: true });
  }

  async #stop(signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
    if (this.#pid !== undefined) await this.end(this.#pid, signal);
    this.#pid = undefined;
  }
}
