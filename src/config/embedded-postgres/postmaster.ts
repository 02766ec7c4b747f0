import { spawn, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { link, open, readFile, rename, stat, unlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster } from './cluster.js';
import { errorCode, readIfPresent, temporarySibling } from './files.js';
import { logTail } from './log-file.js';
import { isAlive, isPostmaster, signal } from './processes.js';
import { CHILD_OPTIONS } from './run-as.js';

const POLL_MS = 15;
const FAST_SHUTDOWN_MS = 10_000;
const IMMEDIATE_SHUTDOWN_MS = 5_000;
const EMPTY_PID_FILE_MS = 5_000;

/** `postmaster.pid` in the data directory, by which the server claims it. */
export interface PidFile {
  text: string;
  /** undefined while the server has not written it yet */
  pid: number | undefined;
  port: number | undefined;
  ready: boolean;
}

/** Reads the claim on a cluster, if there is one. Format: PostgreSQL's `src/include/utils/pidfile.h`. */
export async function readPidFile({ folder }: Cluster): Promise<PidFile | undefined> {
  const text = await readIfPresent(join(folder, 'postmaster.pid'));
  return text === undefined ? undefined : parsePidFile(text);
}

/** Reads the text of a `postmaster.pid`: pid, folder, start time, port, socket folder, address, key, status. */
export function parsePidFile(text: string): PidFile {
  const lines = text.split('\n').map((line) => line.trim());
  return {
    text,
    pid: Number(lines[0]) || undefined,
    port: Number(lines[3]) || undefined,
    ready: lines[7] === 'ready',
  };
}

/**
 * Removes a claim whose server is gone, but whose process number exists: PostgreSQL would believe it and not
 * start. Its check of the shared memory still keeps a second server out of a cluster that is in use.
 */
export async function removeStalePidFile({ folder }: Cluster, stale: PidFile): Promise<void> {
  const path = join(folder, 'postmaster.pid');
  const aside = temporarySibling(path);
  if (stale.pid !== undefined && !signal(stale.pid, 0)) return; // PostgreSQL sees through this one itself
  try {
    if (stale.pid === undefined && Date.now() - (await stat(path)).mtimeMs < EMPTY_PID_FILE_MS) return;
    await rename(path, aside);
    // Another starting service may have replaced it since it was judged: give that one back.
    if ((await readFile(aside, 'utf8')) !== stale.text) await link(aside, path);
    await unlink(aside);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error; // removed by another starting service
  }
}

/**
 * A free port of 127.0.0.1, outside the ranges from which Linux and macOS take the local ports of outgoing
 * connections: one of those could take ours while the server restarts.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_768);
    const server = createServer();
    try {
      server.listen({ port, host: '127.0.0.1', exclusive: true });
      await once(server, 'listening');
      return port;
    } catch (error) {
      if (errorCode(error) !== 'EADDRINUSE') throw error;
    } finally {
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    }
  }
}

/** Why a server that was launched is not running. */
export type LaunchFailure = 'port taken' | 'cluster claimed' | 'memory in use';

/**
 * Starts a server and waits until it accepts connections, which after a crash includes its recovery.
 * It is a session leader with no pipe to us: neither Ctrl-C in the terminal nor our own death reaches it.
 * @returns its process number once it is ready, else why it cannot be now
 * @throws Error with the end of its log where it fails otherwise; the reason of `abort` if that is first
 */
export async function launch(
  cluster: Cluster,
  postgres: string,
  args: string[],
  abort: AbortSignal,
): Promise<number | LaunchFailure> {
  const log = await open(cluster.logFile, 'a', 0o600);
  let child: ChildProcess;
  try {
    child = spawn(postgres, ['-D', cluster.folder, ...args], {
      ...CHILD_OPTIONS,
      ...cluster.runAs,
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    });
    await once(child, 'spawn');
  } finally {
    await log.close();
  }
  child.unref();
  const pid = child.pid;
  if (pid === undefined) throw new Error('a spawned process has no pid');
  while (child.exitCode === null && child.signalCode === null) {
    const claim = await readPidFile(cluster);
    if (claim?.pid === pid && claim.ready) return pid;
    if (abort.aborted) {
      await stopPostmaster(pid, cluster);
      throw abort.reason;
    }
    await delay(POLL_MS);
  }
  const tail = await logTail(cluster.logFile, pid);
  if (/could not bind|could not create any TCP\/IP sockets/.test(tail)) return 'port taken';
  if (tail.includes('lock file "postmaster.pid"')) return 'cluster claimed';
  if (tail.includes('pre-existing shared memory block')) return 'memory in use';
  throw new Error(`the embedded PostgreSQL does not start:\n${tail}`);
}

/**
 * Ends a server: "fast" first (every session is ended, everything is written), harsher if it does not obey.
 * @throws Error if it cannot be ended
 */
export async function stopPostmaster(pid: number, cluster: Cluster): Promise<void> {
  // https://www.postgresql.org/docs/18/server-shutdown.html
  const steps = [
    ['SIGINT', FAST_SHUTDOWN_MS],
    ['SIGQUIT', IMMEDIATE_SHUTDOWN_MS],
    ['SIGKILL', IMMEDIATE_SHUTDOWN_MS],
  ] as const;
  for (const [name, patience] of steps) {
    if (!(await isPostmaster(pid, cluster))) return;
    signal(pid, name);
    const deadline = Date.now() + patience;
    while (Date.now() < deadline) {
      if (!(await isAlive(pid))) return;
      await delay(POLL_MS);
    }
  }
  throw new Error(`the embedded PostgreSQL (process ${pid}) cannot be stopped`);
}
