import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Binaries } from './binaries.js';
import type { Cluster, Passwords } from './cluster.js';
import { freePort, launch, readPidFile, removeStalePidFile, stopPostmaster } from './postmaster.js';
import { endOrphanedSessions, isPostmaster } from './processes.js';
import { close, openSession, type SupervisorSession } from './session.js';

const DEADLINE_MS = 120_000;
const PAUSE_MS = { first: 20, longest: 500 };

/** https://www.postgresql.org/docs/18/runtime-config.html */
const SETTINGS = {
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

/** All that decides how the server of a cluster is run. */
export interface ServerPlan {
  cluster: Cluster;
  passwords: Passwords;
  postgres: string;
  /** All but the port. */
  settings: Record<string, string>;
  /** Differs where binaries or settings do; the server carries it as its setting `bakery.plan`. */
  digest: string;
}

/** Plans the server: our settings, then those of the caller. */
export function planServer(
  cluster: Cluster,
  binaries: Binaries,
  passwords: Passwords,
  extra: Record<string, string>,
): ServerPlan {
  const settings = { ...SETTINGS, ...extra };
  const digest = createHash('sha256')
    .update(JSON.stringify([binaries, settings]))
    .digest('hex');
  return {
    cluster,
    passwords,
    postgres: binaries.postgres,
    settings: { ...settings, 'bakery.plan': digest },
    digest,
  };
}

/**
 * Gets the cluster a running server and the supervisor's lock on it: takes over a server that runs as
 * planned, replaces one that does not, launches one where there is none. Whoever gets the lock is the
 * supervisor, whoever launched the server; who does not get it leaves the server alone.
 * @param fixedPort where the server must listen; a free one is chosen if it is absent
 * @throws DataDirInUseError if another process has the lock; Error if no server comes up within 120 s
 */
export async function acquire(
  plan: ServerPlan,
  signal: AbortSignal,
  fixedPort?: number,
): Promise<{ session: SupervisorSession; adopted: boolean }> {
  const { cluster, passwords } = plan;
  const deadline = Date.now() + DEADLINE_MS;
  let launched: number | undefined;
  let reason = 'it does not accept connections';
  for (let pause = PAUSE_MS.first; Date.now() < deadline; pause = Math.min(pause * 1.5, PAUSE_MS.longest)) {
    const claim = await readPidFile(cluster);
    const isOurs = claim?.pid !== undefined && claim.pid === launched;
    if (!isOurs) signal.throwIfAborted(); // a server that we launched is ours to hand over, so that it is stopped

    if (claim?.pid !== undefined && (await isPostmaster(claim.pid, cluster))) {
      const session = claim.ready ? await openSession(claim, passwords, cluster.dataDir) : undefined;
      if (session) {
        const asPlanned = session.plan === plan.digest && session.port === (fixedPort ?? session.port);
        if (asPlanned) return { session, adopted: !isOurs };
        await stopPostmaster(session.pid, cluster);
        await close(session.client);
        continue;
      }
    } else {
      if (claim) await removeStalePidFile(cluster, claim);
      const outcome = await launch(
        cluster,
        plan.postgres,
        launchArguments(plan, fixedPort ?? (await freePort())),
        signal,
      );
      if (typeof outcome === 'number') {
        launched = outcome;
        continue;
      }
      reason = outcome;
      if (outcome === 'memory in use') await endOrphanedSessions(cluster);
    }
    await delay(pause);
  }
  throw new Error(
    `the embedded PostgreSQL in ${cluster.folder} is not running after ${DEADLINE_MS / 1000} s: ${reason}`,
  );
}

function launchArguments(plan: ServerPlan, port: number): string[] {
  return Object.entries({ ...plan.settings, port: String(port) }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
}
