import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Cluster, openCluster } from './embedded-postgres/cluster.js';
import { removeUnfinished } from './embedded-postgres/make-once.js';
import { findServer, startServer, stopServer } from './embedded-postgres/server.js';
import {
  databaseUrl,
  ensureDatabase,
  openSession,
  type Session,
  type Supervisor,
} from './embedded-postgres/session.js';

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
const STARTS = 10;
const RECOVERY_PAUSE_MS = 1_000;

/**
 * Starts real PostgreSQL on the cluster of a DATA_DIR, or takes over the server that a crashed run left there.
 * @throws DataDirInUseError if another running process supervises it; Error with the reason if there are no binaries
 *   for this platform, the cluster is of another major version, or the server does not start
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const cluster = await openCluster(options.dataDir, options.log);
  const postgres = new EmbeddedPostgres(cluster, options);
  await postgres.start();
  return postgres;
}

/** A database server that this process supervises: it runs on one port of 127.0.0.1 until `stop`. */
export class EmbeddedPostgres {
  /** Connection string of the database `bakery` (UTF-8); the same until `stop`. */
  url = '';
  private readonly stopping = new AbortController();
  private readonly stopAsked = once(this.stopping.signal, 'abort');
  private supervised = Promise.resolve();

  constructor(
    private readonly cluster: Cluster,
    private readonly options: EmbeddedPostgresOptions,
  ) {}

  async start(): Promise<void> {
    const session = await this.acquire();
    try {
      await removeUnfinished(dirname(this.cluster.folder));
      await ensureDatabase(session.client, this.cluster.secret);
    } catch (error) {
      await this.shutDown(session);
      throw error;
    }
    this.url = databaseUrl(session.client.port, this.cluster.secret);
    this.supervised = this.supervise(session);
  }

  /** Ends every session, writes everything, and releases DATA_DIR. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.supervised;
  }

  /** Brings the server back whenever the connection to it is lost, until `stop`. */
  private async supervise(first: Session): Promise<void> {
    let session: Session | undefined = first;
    while (session) {
      await Promise.race([session.lost, this.stopAsked]);
      if (this.stopping.signal.aborted) break;
      session = await this.recover(session.client.port);
    }
    if (session) await this.shutDown(session);
  }

  /** @returns undefined only if `stop` is asked for first */
  private async recover(port: number): Promise<Session | undefined> {
    const { log } = this.options;
    const since = Date.now();
    for (let hasTold = false; ; hasTold = true) {
      try {
        const session = await this.acquire(port);
        log(`embedded PostgreSQL was lost and is back (port ${port}, ${Date.now() - since} ms)`);
        return session;
      } catch (error) {
        if (this.stopping.signal.aborted) return undefined;
        const reason = (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ');
        if (!hasTold) log(`embedded PostgreSQL was lost and is not back yet: ${reason}`);
        await Promise.race([delay(RECOVERY_PAUSE_MS, undefined, { ref: false }), this.stopAsked]);
      }
    }
  }

  /**
   * Gets the cluster a running server and the supervisor's lock on it. The process that gets the lock is the supervisor,
   * even if another process started the server.
   * @param wanted the port where the server must listen; a free one is chosen if it is left out
   */
  private async acquire(wanted?: number): Promise<Session> {
    const { supervisor = 'service', serverSettings } = this.options;
    const deadline = Date.now() + START_DEADLINE_MS;
    for (let failures = 0; Date.now() < deadline;) {
      this.stopping.signal.throwIfAborted();
      if ((await findServer(this.cluster)) === undefined) {
        const settings = { ...SERVER_SETTINGS, ...serverSettings, port: String(wanted ?? randomPort()) };
        await startServer(this.cluster, settings).catch((error: unknown) => {
          failures += 1;
          if (failures === STARTS) throw error;
        });
      }
      const server = await findServer(this.cluster);
      const session = server?.isReady && (await openSession(server.port, this.cluster, supervisor));
      if (session && session.client.port === (wanted ?? session.client.port)) return session;
      if (session) await this.shutDown(session);
      await delay(PAUSE_MS);
    }
    throw new Error(`the embedded PostgreSQL in ${this.cluster.folder} is not running after two minutes`);
  }

  /** The lock is held until the server is down: no other process starts on a server that is ending. */
  private async shutDown({ client }: Session): Promise<void> {
    try {
      await stopServer(this.cluster);
    } finally {
      await client.end();
    }
  }
}

/**
 * Outside the ranges from which Linux and macOS take the local ports of outgoing connections: one of those could take
 * ours while the server restarts. If it is taken, the server does not start and another one is tried.
 */
function randomPort(): number {
  return randomInt(20_000, 32_768);
}
