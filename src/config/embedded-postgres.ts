import { setTimeout as delay } from 'node:timers/promises';
import { acquire, planServer, type ServerPlan } from './embedded-postgres/acquire.js';
import { findBinaries } from './embedded-postgres/binaries.js';
import {
  clusterPasswords,
  ensureCluster,
  locateCluster,
  removeUnfinished,
} from './embedded-postgres/cluster.js';
import { errorText } from './embedded-postgres/files.js';
import { boundLogFile } from './embedded-postgres/log-file.js';
import { readPidFile, stopPostmaster } from './embedded-postgres/postmaster.js';
import { close, databaseUrl, ensureDatabase, type SupervisorSession } from './embedded-postgres/session.js';

export { DataDirInUseError } from './embedded-postgres/session.js';

/** How to run the embedded database. */
export interface EmbeddedPostgresOptions {
  /** DATA_DIR of the settings (absolute or relative to cwd). The cluster lives in `<dataDir>/postgres`. */
  dataDir: string;
  /** called with one-line human messages worth an operator's eye (first start: where the data lies; restart after a crash; adopted an orphan) */
  log: (message: string) => void;
  /** extra server settings, e.g. { fsync: 'off' } for tests */
  serverSettings?: Record<string, string>;
}

/** A database server that this process supervises. */
export interface EmbeddedPostgres {
  /** Connection string of the database `bakery` (UTF-8), the same until `stop`. */
  readonly url: string;
  /** clean stop: 'fast' shutdown, waits, releases everything */
  stop(): Promise<void>;
}

const RECOVERY_PAUSE_MS = 1_000;

/**
 * Starts real PostgreSQL on the cluster of a DATA_DIR, or takes over the server that a crashed run left
 * there, and keeps it running on one port of 127.0.0.1 until `stop`.
 * @throws DataDirInUseError if another running service has it; Error with the reason if there are no
 *   binaries for this platform, the cluster is of another major version, or the server does not start
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const cluster = await locateCluster(options.dataDir);
  const binaries = await findBinaries(cluster.runAs, cluster.copyFolder);
  const passwords = await clusterPasswords(cluster);
  const sync = options.serverSettings?.fsync !== 'off';
  if (await ensureCluster(cluster, binaries, { password: passwords.superuser, sync })) {
    options.log(`embedded PostgreSQL ${binaries.version}: the data lies in ${cluster.folder}`);
  }
  const plan = planServer(cluster, binaries, passwords, options.serverSettings ?? {});
  const supervisor = new Supervisor(plan, options.log);
  await supervisor.start();
  return supervisor;
}

/**
 * Connection string of the embedded database that another process supervises, for a command beside it.
 * @throws Error when none runs
 */
export async function runningPostgresUrl(dataDir: string): Promise<string> {
  const cluster = await locateCluster(dataDir);
  const claim = await readPidFile(cluster);
  if (claim?.port === undefined) throw new Error(`no database runs in ${cluster.folder}`);
  return databaseUrl(claim.port, await clusterPasswords(cluster));
}

class Supervisor implements EmbeddedPostgres {
  url = '';
  private readonly stopping = new AbortController();
  private readonly stopAsked = new Promise<void>((resolve) => {
    this.stopping.signal.addEventListener('abort', () => {
      resolve();
    });
  });
  /** undefined between the loss of a server and its return */
  private session: SupervisorSession | undefined;
  private watching = Promise.resolve();
  private leaveLog: () => void = () => undefined;
  private stopped: Promise<void> | undefined;

  constructor(
    private readonly server: ServerPlan,
    private readonly report: (message: string) => void,
  ) {}

  async start(): Promise<void> {
    const { session, adopted } = await acquire(this.server, this.stopping.signal);
    try {
      await removeUnfinished(this.server.cluster);
      await ensureDatabase(session.client, this.server.passwords);
    } catch (error) {
      await this.shutDown(session);
      throw error;
    }
    if (adopted) {
      this.report(`embedded PostgreSQL: took over the server of an earlier run (process ${session.pid})`);
    }
    this.session = session;
    this.url = databaseUrl(session.port, this.server.passwords);
    this.leaveLog = boundLogFile(this.server.cluster.logFile);
    this.watching = this.watch(session);
  }

  stop(): Promise<void> {
    this.stopped ??= this.stopOnce();
    return this.stopped;
  }

  private async watch(first: SupervisorSession): Promise<void> {
    let session: SupervisorSession | undefined = first;
    while (session) {
      await Promise.race([session.lost, this.stopAsked]);
      if (this.stopping.signal.aborted) return;
      this.session = undefined;
      session = this.session = await this.recover(session);
    }
  }

  /** Brings the server back on the port that clients know. Gives undefined only if `stop` is asked for first. */
  private async recover(lost: SupervisorSession): Promise<SupervisorSession | undefined> {
    const since = Date.now();
    await close(lost.client);
    for (let attempt = 0; ; attempt += 1) {
      const session = await this.reacquire(lost.port, attempt);
      if (session) {
        const what = session.pid === lost.pid ? 'lost its sessions and recovered' : 'died and was restarted';
        this.report(`embedded PostgreSQL ${what} (port ${session.port}, ${Date.now() - since} ms)`);
        return session;
      }
      if (this.stopping.signal.aborted) return undefined;
      await Promise.race([delay(RECOVERY_PAUSE_MS, undefined, { ref: false }), this.stopAsked]);
    }
  }

  private async reacquire(port: number, attempt: number): Promise<SupervisorSession | undefined> {
    try {
      return (await acquire(this.server, this.stopping.signal, port)).session;
    } catch (error) {
      if (attempt === 0 && !this.stopping.signal.aborted) {
        const reason = errorText(error).replaceAll(/\s*\n\s*/g, ' | ');
        this.report(`embedded PostgreSQL died and is not back yet: ${reason}`);
      }
      return undefined;
    }
  }

  private async stopOnce(): Promise<void> {
    this.stopping.abort();
    await this.watching;
    this.leaveLog();
    if (this.session) await this.shutDown(this.session);
  }

  /** The lock is held until the server is down, so that no other service starts on a server that is ending. */
  private async shutDown(session: SupervisorSession): Promise<void> {
    try {
      await stopPostmaster(session.pid, this.server.cluster);
    } finally {
      await close(session.client);
    }
  }
}
