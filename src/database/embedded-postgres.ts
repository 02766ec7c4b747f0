import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { errorMessage, isDatabaseUnavailable } from '../common/errors/error-info.js';
import { type Cluster, openCluster } from './embedded-postgres/cluster.js';
import { removeTemporaryFolders } from './embedded-postgres/create-once.js';
import { findServer, startServer, stopServer } from './embedded-postgres/server.js';
import {
  buildDatabaseUrl,
  connectAsSupervisor,
  ensureDatabase,
  type ProcessKind,
  type SupervisorConnection,
} from './embedded-postgres/supervisor-connection.js';

interface EmbeddedPostgresOptions {
  readonly dataDir: string;
  /** Ends the start: the creation of a new database and the recovery after a crash can take long. */
  readonly stopping?: AbortSignal;
  /** Receives lines about the folder of a new database, a lost server and its recovery. */
  readonly log: (message: string) => void;
  /** Additional settings of the server, such as `{ fsync: 'off' }` for tests. */
  readonly serverSettings?: Readonly<Record<string, string>>;
  /** `service` by default. */
  readonly processKind?: ProcessKind;
}

const START_DEADLINE_MS = 120_000;
const PAUSE_MS = 50;
/** A start fails if its port is in use, or if processes of a killed server have not ended yet. */
const MAX_START_FAILURES = 10;
const RECOVERY_PAUSE_MS = 1_000;

/**
 * Starts PostgreSQL on the cluster of a DATA_DIR, or takes over the server that a crashed process left running.
 * @throws DataDirInUseError if another running process supervises the cluster
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const cluster = await openCluster(options.dataDir, options.log, options.stopping);
  options.stopping?.throwIfAborted();
  const postgres = new EmbeddedPostgres(cluster, options);
  await postgres.start();
  return postgres;
}

export class EmbeddedPostgres {
  /** Connection string of the database `bakery`, the same across restarts of the server. */
  url = '';
  readonly #stopping = new AbortController();
  readonly #stopRequested = once(this.#stopping.signal, 'abort');
  #supervised = Promise.resolve();

  constructor(
    private readonly cluster: Cluster,
    private readonly options: EmbeddedPostgresOptions,
  ) {}

  /** @param retries remaining starts after a lost connection */
  async start(retries = 3): Promise<void> {
    const connection = await this.#becomeSupervisor(this.options.stopping);
    try {
      await removeTemporaryFolders(dirname(this.cluster.folder));
      await ensureDatabase(connection.client, this.cluster.superuserPassword);
    } catch (error) {
      // A server that another process stops can give the lock to this process just before it ends the connection.
      if (retries > 0 && isDatabaseUnavailable(error)) {
        await connection.client.end();
        return this.start(retries - 1);
      }
      await this.#shutDown(connection);
      throw error;
    }
    this.url = buildDatabaseUrl(connection.client.port, this.cluster.superuserPassword);
    this.#supervised = this.#supervise(connection);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#supervised;
  }

  /** Reconnects whenever the connection to the server is lost, and restarts the server if it has ended, until `stop`. */
  async #supervise(first: SupervisorConnection): Promise<void> {
    let connection: SupervisorConnection | undefined = first;
    while (connection) {
      await Promise.race([connection.lost, this.#stopRequested]);
      if (this.#stopping.signal.aborted) break;
      connection = await this.#recover(connection.client.port);
    }
    if (connection) await this.#shutDown(connection);
  }

  /** @returns undefined if `stop` was called before the server was back */
  async #recover(port: number): Promise<SupervisorConnection | undefined> {
    const { log } = this.options;
    const since = Date.now();
    for (let hasLogged = false; ; hasLogged = true) {
      try {
        const connection = await this.#becomeSupervisor(this.#stopping.signal, port);
        log(`embedded PostgreSQL was lost and is back (port ${port}, ${Date.now() - since} ms)`);
        return connection;
      } catch (error) {
        if (this.#stopping.signal.aborted) return undefined;
        const reason = errorMessage(error).replaceAll(/\s+/g, ' ');
        if (!hasLogged) log(`embedded PostgreSQL was lost and is not back yet: ${reason}`);
        await Promise.race([delay(RECOVERY_PAUSE_MS, undefined, { ref: false }), this.#stopRequested]);
      }
    }
  }

  /**
   * Makes sure that a server runs on the cluster, and takes the supervisor's lock. The holder of the lock is the
   * supervisor, even if another process started the server.
   */
  async #becomeSupervisor(
    stopping = this.#stopping.signal,
    requiredPort?: number,
  ): Promise<SupervisorConnection> {
    const { processKind = 'service', serverSettings } = this.options;
    const deadline = AbortSignal.timeout(START_DEADLINE_MS);
    let failures = 0;
    let cause: unknown;
    while (!deadline.aborted) {
      stopping.throwIfAborted();
      if ((await findServer(this.cluster)) === undefined) {
        // Not an ephemeral port of Linux or macOS, which an outgoing connection could take while the server restarts.
        const settings = { ...serverSettings, port: String(requiredPort ?? randomInt(20_000, 32_768)) };
        await startServer(this.cluster, settings, { deadline, stopping }).catch((error: unknown) => {
          cause = error;
          failures += 1;
          if (failures === MAX_START_FAILURES) throw error;
        });
      }
      const server = await findServer(this.cluster);
      const connection = server?.isReady
        ? await connectAsSupervisor(server.port, this.cluster, processKind).catch((error: unknown) => {
            if (!isDatabaseUnavailable(error)) throw error;
            cause = error;
          })
        : undefined;
      if (connection && (requiredPort === undefined || connection.client.port === requiredPort))
        return connection;
      // Another process started the server on another port, but the application connects to the required one.
      if (connection) await this.#shutDown(connection);
      await delay(PAUSE_MS);
    }
    const problem = `did not become usable within ${START_DEADLINE_MS / 1000} s`;
    throw new Error(`the embedded PostgreSQL in ${this.cluster.folder} ${problem}`, { cause });
  }

  /** Stops the server, and only then releases the lock, so that no other process uses a server that is shutting down. */
  async #shutDown({ client }: SupervisorConnection): Promise<void> {
    try {
      await stopServer(this.cluster);
    } finally {
      await client.end();
    }
  }
}
