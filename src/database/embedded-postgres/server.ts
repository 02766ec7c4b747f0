import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readIfPresent } from '../../common/files.js';
import type { Cluster } from './cluster.js';
import { CHILD_OPTIONS } from './run.js';

/** https://www.postgresql.org/docs/18/runtime-config.html */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  jit: 'off', // costs more than it saves for statements of a few milliseconds
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_line_prefix: '%m [%p] ',
  log_error_verbosity: 'terse', // the detail of a violated constraint contains the row: addresses, digests
  log_min_error_statement: 'panic', // the statement contains the row's values too
  log_checkpoints: 'off',
};
const POLL_MS = 15;
const STOP_TIMEOUT_MS = 60_000;
/** If the log is larger, the next start renames it to `postgres.log.1`. */
const MAX_LOG_BYTES = 5 * 1024 * 1024;

type ClusterFolder = Pick<Cluster, 'folder'>;

/** Finds the server that runs on a cluster, even one that is starting or shutting down. */
export async function findServer(cluster: ClusterFolder) {
  const { pid, port, status } = await readPidFile(cluster);
  if (!isRunning(pid) || !(await isServerOf(cluster, pid))) return undefined;
  return { pid, port, isReady: status === 'ready' };
}

/**
 * Removes `postmaster.pid` if its process is not a server of the cluster. After a crash, the process id may belong to another
 * program, which PostgreSQL would mistake for a server. On one machine the removal is safe: PostgreSQL also checks the shared
 * memory, so a cluster never has a second server. Two containers must not share a cluster (docs/decisions/02).
 */
async function removeStalePidFile(cluster: ClusterFolder): Promise<void> {
  const { pidFile, pid } = await readPidFile(cluster);
  if (isRunning(pid) && !(await isServerOf(cluster, pid))) await rm(pidFile, { force: true });
}

/** Reads the first line (process id), the fourth (port) and the eighth (status). Numbers of a missing file are NaN. */
async function readPidFile({ folder }: ClusterFolder) {
  const pidFile = join(folder, 'postmaster.pid');
  const lines = (await readIfPresent(pidFile))?.split('\n') ?? [];
  return { pidFile, pid: parseInt(lines[0] ?? ''), port: parseInt(lines[3] ?? ''), status: lines[7]?.trim() };
}

/** Returns true if the working directory of a process is the folder of the cluster, as that of its server is. */
async function isServerOf({ folder }: ClusterFolder, pid: number): Promise<boolean> {
  if (process.platform !== 'linux') return true; // Only Linux tells the working directory of a process.
  const workingDirectory = await readlink(`/proc/${pid}/cwd`).catch(() => null);
  if (workingDirectory !== null) return workingDirectory === (await realpath(folder));
  // In a container, root may lack the right to read the working directory of a server that runs as another user.
  const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
  return name.trim() === 'postgres';
}

function isRunning(pid: number): boolean {
  return sendSignal(pid, 0); // 0 sends no signal.
}

/** Sends a signal. Returns false if the process does not run. */
function sendSignal(pid: number, signal: 'SIGINT' | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false; // No id was found, the process has ended, or it belongs to another user and is not the server.
  }
}

/**
 * Starts a server, and returns when the server accepts connections. After the deadline, returns although the server is still
 * starting. If `stopping` is aborted before that, stops the server. The server has no pipe to this process, so the end of this
 * process does not stop the server.
 * @throws Error with the log of the server if the server ends
 */
export async function startServer(
  cluster: Cluster,
  settings: Readonly<Record<string, string>>,
  { deadline, stopping }: { readonly deadline: AbortSignal; readonly stopping: AbortSignal },
): Promise<void> {
  await removeStalePidFile(cluster);
  const logFile = join(cluster.dataDir, 'postgres.log');
  const earlier = await stat(logFile).catch(() => undefined);
  if (earlier && earlier.size > MAX_LOG_BYTES) await rename(logFile, `${logFile}.1`);
  const log = await open(logFile, 'a', 0o600);
  const { size: logStart } = await log.stat();
  const args = Object.entries({ ...SETTINGS, ...settings }).map(([name, value]) => `--${name}=${value}`);
  const child = spawn(join(cluster.bin, 'postgres'), ['-D', cluster.folder, ...args], {
    ...CHILD_OPTIONS,
    ...cluster.runAs,
    stdio: ['ignore', log.fd, log.fd],
  });
  await once(child, 'spawn').finally(() => log.close());
  child.unref();
  const stop = () => child.kill('SIGINT');
  stopping.addEventListener('abort', stop);
  if (stopping.aborted) stop();
  try {
    while (child.exitCode === null && child.signalCode === null) {
      if (deadline.aborted || (!stopping.aborted && (await findServer(cluster))?.isReady)) return;
      await delay(POLL_MS);
    }
  } finally {
    stopping.removeEventListener('abort', stop); // A server that is ready is stopped by its supervisor.
  }
  const printed = (await readFile(logFile)).subarray(logStart).toString().trimEnd();
  throw new Error(`the embedded PostgreSQL does not start:\n${printed}`);
}

/** Performs a fast shutdown if the server runs. https://www.postgresql.org/docs/18/server-shutdown.html */
export async function stopServer(cluster: Cluster): Promise<void> {
  const server = await findServer(cluster);
  // Not `pg_ctl`: a Ctrl-C in the terminal can reach a new process before it is detached.
  if (server !== undefined) sendSignal(server.pid, 'SIGINT');
  const deadline = Date.now() + STOP_TIMEOUT_MS;
  while ((await findServer(cluster)) !== undefined) {
    if (Date.now() > deadline) throw new Error(`the embedded PostgreSQL in ${cluster.folder} does not stop`);
    await delay(POLL_MS);
  }
}
