import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, readlink, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster } from './cluster.js';
import { errorCode, readIfPresent } from './files.js';
import { CHILD_OPTIONS } from './run-as.js';

const POLL_MS = 15;
const STOP_DEADLINE_MS = 20_000;
const MAX_LOG_BYTES = 5 * 1024 * 1024;
const SHOWN_LINES = 20;

/** A server, as `postmaster.pid` names it: its claim on its data directory. */
export interface Server {
  /** Its process number. */
  readonly pid: number;
  readonly port: number;
  /** It accepts connections. */
  readonly ready: boolean;
}

/** Reads the claim on a cluster; numbers that the server has not written yet are NaN. */
export async function readPidFile({ folder }: Cluster): Promise<Server | undefined> {
  const text = await readIfPresent(join(folder, 'postmaster.pid'));
  if (text === undefined) return undefined;
  const [pid, , , port, , , , status] = text.split('\n').map((line) => line.trim());
  return { pid: parseInt(pid ?? ''), port: parseInt(port ?? ''), ready: status === 'ready' };
}

/**
 * The server that runs on a cluster. Removes the claim of one that is gone: PostgreSQL believes it if another process
 * has the number now. Its check of the shared memory still keeps a second server out of a cluster that is in use.
 */
export async function findServer(cluster: Cluster): Promise<Server | undefined> {
  const server = await readPidFile(cluster);
  if (server === undefined || (await isPostmaster(server.pid, cluster))) return server;
  if (isAlive(server.pid)) await rm(join(cluster.folder, 'postmaster.pid'), { force: true });
  return undefined;
}

/** Whether a process is the server of this cluster. After a crash, its number may belong to any other process. */
async function isPostmaster(pid: number, { folder }: Cluster): Promise<boolean> {
  if (process.platform !== 'linux') return isAlive(pid);
  return (await readlink(`/proc/${pid}/cwd`).catch(() => undefined)) === folder;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/**
 * Starts a server and waits until it accepts connections; after a crash that includes its recovery. The server has a
 * session of its own and no pipe to this process, so neither Ctrl-C in the terminal nor our end stops it.
 * @throws Error with the end of its log if it does not start
 */
export async function launch(
  cluster: Cluster,
  postgres: string,
  settings: Readonly<Record<string, string>>,
): Promise<Server> {
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
    const server = await readPidFile(cluster);
    if (server?.ready === true && server.pid === child.pid) return server;
    await delay(POLL_MS);
  }
  const printed = (await readFile(cluster.logFile)).subarray(logStart).toString().trimEnd();
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
 * Ends a server the fast way: every session is ended, everything is written.
 * https://www.postgresql.org/docs/18/server-shutdown.html
 * @throws Error if it takes longer than 20 s; it goes on ending then
 */
export async function stopPostmaster(pid: number, cluster: Cluster): Promise<void> {
  if (await isPostmaster(pid, cluster)) process.kill(pid, 'SIGINT');
  const deadline = Date.now() + STOP_DEADLINE_MS;
  while (Date.now() < deadline) {
    if (!(await isPostmaster(pid, cluster))) return;
    await delay(POLL_MS);
  }
  throw new Error(`the embedded PostgreSQL (process ${pid}) has not stopped in time`);
}
