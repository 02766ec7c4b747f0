import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PROGRAM_PATH } from '../../support/installed.js';

/** Returns the user `postgres` if root runs the tests, because PostgreSQL rejects root. Otherwise returns undefined. */
function findClusterUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const readId = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: readId('-u'), gid: readId('-g') };
}

/** Makes the user of the cluster's processes the owner of a folder. */
export async function giveToClusterUser(folder: string): Promise<void> {
  const user = findClusterUser();
  if (user !== undefined) await chown(folder, user.uid, user.gid);
}

/** Starts a program as the user of the cluster's processes, and discards its output. */
export function startProgram(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): ChildProcess {
  const env = { PATH: PROGRAM_PATH, LC_ALL: 'C.UTF-8', ...environment };
  return spawn(program, args, { ...findClusterUser(), env, stdio: 'ignore' });
}

export async function stopProgram(child: ChildProcess): Promise<void> {
  if (hasExited(child)) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

export function hasExited({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

export async function listChildren(pid: number): Promise<number[]> {
  const threads = `/proc/${pid}/task`;
  const lists = (await readdir(threads)).map((thread) =>
    readFile(join(threads, thread, 'children'), 'utf8').catch((error: unknown) => {
      assertEnded(error); // A thread that has ended since `readdir` has no children.
      return '';
    }),
  );
  return (await Promise.all(lists)).join(' ').split(' ').filter(Boolean).map(Number);
}

/**
 * Sends a signal to a process and to all its descendants, parents first. Stops each process before its children are listed, so
 * that it cannot start another one.
 */
export async function signalTree(pid: number, signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void> {
  let children: readonly number[] = [];
  try {
    process.kill(pid, 'SIGSTOP');
    children = await listChildren(pid);
    process.kill(pid, signal);
  } catch (error) {
    // A process may end before its turn, for example because its parent was killed. Its children may still run.
    assertEnded(error);
  }
  for (const child of children) await signalTree(child, signal);
}

/** Throws the error, unless it means that the process or thread has ended. */
function assertEnded(error: unknown): void {
  if (!['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
}
