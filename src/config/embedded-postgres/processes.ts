import { execFile } from 'node:child_process';
import { readFile, readdir, readlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Cluster } from './cluster.js';
import { errorCode } from './files.js';

/**
 * Whether the process in a `postmaster.pid` is this cluster's server. A number alone proves nothing: after a
 * crash the system may have given it to any other process, or it may wait to be reaped.
 */
export async function isPostmaster(pid: number, { folder }: Cluster): Promise<boolean> {
  if (!(await isAlive(pid))) return false;
  try {
    if (process.platform === 'linux') {
      const program = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0')[0] ?? '';
      return program.endsWith('/postgres') && (await worksIn(pid, folder));
    }
    const { stdout } = await promisify(execFile)('/bin/ps', ['-ww', '-o', 'args=', '-p', String(pid)]);
    return stdout.includes('/postgres ') && stdout.includes(`-D ${folder} `);
  } catch {
    // It ended meanwhile, or belongs to a user whose processes we may not look at: in neither case our server.
    return false;
  }
}

/** Whether a process runs; one that ended and waits to be reaped does not. */
export async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
  if (process.platform !== 'linux') return true;
  try {
    const status = await readFile(`/proc/${pid}/stat`, 'utf8');
    return !status.slice(status.lastIndexOf(')')).startsWith(') Z');
  } catch {
    return false; // ended between the two looks
  }
}

/** Sends a signal (0 only tries) and says whether there is such a process that we may send it to. */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch (error) {
    if (errorCode(error) === 'ESRCH' || errorCode(error) === 'EPERM') return false;
    throw error;
  }
}

/**
 * Ends what a killed server left behind: a session in a long statement does not notice at once, and as long
 * as it uses the shared memory no new server can start. It is a crash either way, from which the next server
 * recovers. Sessions of a server that runs are spared. On systems without `/proc` they are waited for.
 */
export async function endOrphanedSessions(cluster: Cluster): Promise<void> {
  if (process.platform !== 'linux') return;
  for (const name of await readdir('/proc')) {
    const pid = Number(name);
    if (Number.isInteger(pid) && (await isOrphanedSession(pid, cluster))) signal(pid, 'SIGKILL');
  }
}

async function isOrphanedSession(pid: number, cluster: Cluster): Promise<boolean> {
  try {
    if (!(await readFile(`/proc/${pid}/cmdline`, 'utf8')).startsWith('postgres: ')) return false;
    if (!(await worksIn(pid, cluster.folder))) return false;
    const status = await readFile(`/proc/${pid}/stat`, 'utf8');
    const [, , parent] = status.slice(status.lastIndexOf(')')).split(' ');
    return !(await isPostmaster(Number(parent), cluster));
  } catch {
    return false; // it ended meanwhile, or is none of ours to look at
  }
}

async function worksIn(pid: number, folder: string): Promise<boolean> {
  return (await readlink(`/proc/${pid}/cwd`)) === folder;
}
