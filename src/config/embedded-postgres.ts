import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { findBinaries } from './embedded-postgres/binaries.js';
import {
  type Cluster,
  clusterPasswords,
  ensureCluster,
  locateCluster,
  type Passwords,
  removeUnfinished,
} from './embedded-postgres/cluster.js';
import { findServer, launch, stopPostmaster } from './embedded-postgres/postmaster.js';
import {
  close,
  databaseUrl,
  ensureDatabase,
  openSession,
  type Supervisor,
  type SupervisorSession,
} from './embedded-postgres/session.js';

export { DataDirInUseError, type Supervisor } from './embedded-postgres/session.js';

/** How to run the embedded database. */
export interface EmbeddedPostgresOptions {
  /** DATA_DIR of the settings, absolute or relative to the working directory. */
  readonly dataDir: string;
  /** Receives one-line messages worth an operator's eye: where the data lies, that the server died and is back. */
  readonly log: (message: string) => void;
  /** Further settings of the server, such as `{ fsync: 'off' }` for tests. */
  readonly serverSettings?: Readonly<Record<string, string>>;
  /** Who starts it; the service unless said otherwise. */
  readonly supervisor?: Supervisor;
}

/** https://www.postgresql.org/docs/18/runtime-config.html */
export const SERVER_SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  jit: 'off', // costs more than it saves on statements of milliseconds
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_line_prefix: '%m [%p] ',
  log_error_verbosity: 'terse', // the detail of a violated constraint holds the row: addresses, hashes
  log_min_error_statement: 'panic', // so does the statement
  log_checkpoints: 'off',
};
const START_DEADLINE_MS = 120_000;
const PAUSE_MS = 50;
/** A port may be taken, or the processes of a server that was killed may not have ended yet. */
const LAUNCHES = 10;
const RECOVERY_PAUSE_MS = 1_000;

/**
 * Starts real PostgreSQL on the cluster of a DATA_DIR, or takes over the server that a crashed run left there.
 * @throws DataDirInUseError if another running process supervises it; Error with the reason if there are no binaries
 *   for this platform, the cluster is of another major version, or the server does not start
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const cluster = await locateCluster(options.dataDir);
  const binaries = await findBinaries(cluster.runAs, cluster.copyFolder);
  const passwords = await clusterPasswords(cluster);
  const sync = options.serverSettings?.fsync !== 'off';
  if (await ensureCluster(cluster, binaries, passwords.superuser, sync)) {
    options.log(`embedded PostgreSQL ${binaries.version}: the data lies in ${cluster.folder}`);
  }
  const postgres = new EmbeddedPostgres(cluster, passwords, binaries.postgres, options);
  await postgres.start();
  return postgres;
}

/** A database server that this process supervises: it runs on one port of 127.0.0.1 until `stop`. */
export class EmbeddedPostgres {
  /** Connection string of the database `bakery` (UTF-8); the same until `stop`. */
  url = '';
  private readonly stopping = new AbortController();
  private readonly stopAsked = once(this.stopping.signal, 'abort');
  /** Undefined between the loss of a server and its return. */
  private session: SupervisorSession | undefined;
  private watching = Promise.resolve();
  private stopped: Promise<void> | undefined;

  constructor(
    private readonly cluster: Cluster,
    private readonly passwords: Passwords,
    private readonly program: string,
    private readonly options: EmbeddedPostgresOptions,
  ) {}

  async start(): Promise<void> {
    const session = await this.acquire();
    try {
      await Promise.all([removeUnfinished(this.cluster), ensureDatabase(session.client, this.passwords)]);
    } catch (error) {
      await this.shutDown(session);
      throw error;
    }
    this.url = databaseUrl(session.port, this.passwords);
    this.watching = this.watch(session);
  }

  /** Ends every session, writes everything, and releases DATA_DIR. */
  stop(): Promise<void> {
    this.stopped ??= this.stopOnce();
    return this.stopped;
  }

  private async stopOnce(): Promise<void> {
    this.stopping.abort();
    await this.watching;
    if (this.session) await this.shutDown(this.session);
  }

  /** The lock is held until the server is down: no other process starts on a server that is ending. */
  private async shutDown(session: SupervisorSession): Promise<void> {
    try {
      await stopPostmaster(session.pid, this.cluster);
    } finally {
      await close(session.client);
    }
  }

  /**
   * Gets the cluster a running server and the supervisor's lock on it. The process that gets the lock is the supervisor,
   * even if another process launched the server.
   * @param port where the server must listen; a free one is chosen if it is left out
   */
  private async acquire(port?: number): Promise<SupervisorSession> {
    const deadline = Date.now() + START_DEADLINE_MS;
    for (let launches = 0; Date.now() < deadline;) {
      this.stopping.signal.throwIfAborted();
      const server = (await findServer(this.cluster)) ?? (await this.launch(port, (launches += 1)));
      const { supervisor = 'service' } = this.options;
      const session = server?.ready && (await openSession(server, this.cluster, this.passwords, supervisor));
      if (session && session.port === (port ?? session.port)) return session;
      if (session) await this.shutDown(session);
      await delay(PAUSE_MS);
    }
    const seconds = START_DEADLINE_MS / 1000;
    throw new Error(`the embedded PostgreSQL in ${this.cluster.folder} is not running after ${seconds} s`);
  }

  /** @returns undefined if the server did not start and may start in a moment */
  private async launch(port = randomPort(), attempt: number) {
    const settings = { ...SERVER_SETTINGS, ...this.options.serverSettings, port: String(port) };
    try {
      return await launch(this.cluster, this.program, settings);
    } catch (error) {
      if (attempt >= LAUNCHES) throw error;
      return undefined;
    }
  }

  /** Brings the server back whenever the connection to it is lost, until `stop`. */
  private async watch(first: SupervisorSession): Promise<void> {
    this.session = first;
    while (this.session) {
      const lost: SupervisorSession = this.session;
      await Promise.race([lost.lost, this.stopAsked]);
      if (this.isStopping()) return;
      this.session = undefined;
      const since = Date.now();
      await close(lost.client);
      this.session = await this.recover(lost.port);
      const took = `port ${lost.port}, ${Date.now() - since} ms`;
      if (this.session) this.options.log(`embedded PostgreSQL was lost and is back (${took})`);
    }
  }

  /** @returns undefined only if `stop` is asked for first */
  private async recover(port: number): Promise<SupervisorSession | undefined> {
    for (let hasTold = false; !this.isStopping(); hasTold = true) {
      try {
        return await this.acquire(port);
      } catch (error) {
        const reason = (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ');
        if (!hasTold && !this.isStopping())
          this.options.log(`embedded PostgreSQL was lost and is not back yet: ${reason}`);
        await Promise.race([delay(RECOVERY_PAUSE_MS, undefined, { ref: false }), this.stopAsked]);
      }
    }
    return undefined;
  }

  private isStopping(): boolean {
    return this.stopping.signal.aborted;
  }
}

/**
 * Outside the ranges from which Linux and macOS take the local ports of outgoing connections: one of those could take
 * ours while the server restarts. If it is taken, the server does not start and another one is tried.
 */
function randomPort(): number {
  return randomInt(20_000, 32_768);
}
