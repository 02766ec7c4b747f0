import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, readlink, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster } from './cluster.js';
import { errorCode, readIfPresent } from './files.js';
import { CHILD_OPTIONS } from './run-as.js';

const POLL_MS = 15;
const MAX_LOG_BYTES = 5 * 1024 * 1024;
const SHOWN_LINES = 20;

/** What `postmaster.pid` says: the server's claim on its data directory. */
export interface PidFile {
  /** Undefined while the server has not written it yet. */
  readonly pid: number | undefined;
  readonly port: number | undefined;
  /** The server accepts connections. */
  readonly ready: boolean;
}

/** Reads the claim on a cluster, if there is one. */
export async function readPidFile({ folder }: Cluster): Promise<PidFile | undefined> {
  const text = await readIfPresent(join(folder, 'postmaster.pid'));
  if (text === undefined) return undefined;
  const [pid, , , port, , , , status] = text.split('\n').map((line) => line.trim());
  return { pid: Number(pid) || undefined, port: Number(port) || undefined, ready: status === 'ready' };
}

/** Whether a process is the server of this cluster. After a crash, its number may belong to any other process. */
export async function isPostmaster(pid: number, { folder }: Cluster): Promise<boolean> {
  if (process.platform !== 'linux') return isAlive(pid);
  return (await readlink(`/proc/${pid}/cwd`).catch(() => undefined)) === folder;
}

/**
 * Removes the claim of a server that is gone. PostgreSQL believes it if another process has the number now. Its check
 * of the shared memory still keeps a second server out of a cluster that is in use.
 */
export async function removeStalePidFile({ folder }: Cluster, { pid }: PidFile): Promise<void> {
  if (pid !== undefined && isAlive(pid)) await rm(join(folder, 'postmaster.pid'), { force: true });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/** The reasons in a server's log that may be over in a moment. */
const PASSING =
  /could not bind|could not create any TCP\/IP sockets|lock file "postmaster.pid"|pre-existing shared memory/;

/**
 * Starts a server and waits until it accepts connections; after a crash that includes its recovery. The server has a
 * session of its own and no pipe to this process, so neither Ctrl-C in the terminal nor our end stops it.
 * @returns its process number; undefined if it cannot start at this moment: its port is taken, or another server has
 *   the cluster
 * @throws Error with the end of its log if it cannot start at all
 */
export async function launch(
  cluster: Cluster,
  postgres: string,
  settings: Readonly<Record<string, string>>,
): Promise<number | undefined> {
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  await keepLogShort(cluster.logFile);
  const log = await open(cluster.logFile, 'a', 0o600);
  const { size: logStart } = await log.stat();
  const child = spawn(postgres, ['-D', cluster.folder, ...args], {
    ...CHILD_OPTIONS,
    ...cluster.runAs,
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  });
  await once(child, 'spawn').finally(() => log.close());
  child.unref();
  while (child.exitCode === null && child.signalCode === null) {
    const claim = await readPidFile(cluster);
    if (claim?.ready === true && claim.pid === child.pid) return claim.pid;
    await delay(POLL_MS);
  }
  const printed = (await readFile(cluster.logFile)).subarray(logStart).toString().trimEnd();
  if (PASSING.test(printed)) return undefined;
  throw new Error(
    `the embedded PostgreSQL does not start:\n${printed.split('\n').slice(-SHOWN_LINES).join('\n')}`,
  );
}

/** The log of earlier runs becomes `<path>.1` once it is long. */
async function keepLogShort(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found && found.size > MAX_LOG_BYTES) await rename(path, `${path}.1`);
}

/**
 * Ends a server: "fast" first (every session is ended, everything is written), harsher if it does not obey.
 * https://www.postgresql.org/docs/18/server-shutdown.html
 * @throws Error if it cannot be ended
 */
export async function stopPostmaster(pid: number, cluster: Cluster): Promise<void> {
  for (const [signal, patienceMs] of [
    ['SIGINT', 10_000],
    ['SIGQUIT', 5_000],
    ['SIGKILL', 5_000],
  ] as const) {
    const deadline = Date.now() + patienceMs;
    if (await isPostmaster(pid, cluster)) process.kill(pid, signal);
    while (Date.now() < deadline) {
      if (!(await isPostmaster(pid, cluster))) return;
      await delay(POLL_MS);
    }
  }
  throw new Error(`the embedded PostgreSQL (process ${pid}) cannot be stopped`);
}
