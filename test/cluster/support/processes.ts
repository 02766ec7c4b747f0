import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { chown, readdir, readFile } from 'node:fs/promises';
import { PROGRAM_PATH } from '../../support/installed.js';

/** Returns `postgres` if root runs the tests, because PostgreSQL rejects root. Otherwise the processes run as this user. */
function findClusterUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const readId = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: readId('-u'), gid: readId('-g') };
}

/** Lets the processes of the cluster write to a folder. */
export async function giveToClusterUser(folder: string): Promise<void> {
  const user = findClusterUser();
  if (user !== undefined) await chown(folder, user.uid, user.gid);
}

/** Starts a program whose output goes to a file. */
export function startProgram(
  program: string,
  args: readonly string[],
  logFile: string,
  environment: Readonly<Record<string, string>> = {},
): ChildProcess {
  const log = createWriteStream(logFile, { flags: 'a' });
  const child = spawn(program, args, {
    ...findClusterUser(),
    env: { PATH: PROGRAM_PATH, LC_ALL: 'C.UTF-8', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  return child;
}

export async function stopProgram(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}

/** Sends a signal to a process and to all its descendants, parents first. */
export async function signalTree(pid: number, signal: NodeJS.Signals): Promise<void> {
  const parents = new Map<number, number>();
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const stat = await readFile(`/proc/${entry}/stat`, 'utf8').catch(() => ''); // The process may have ended.
    const parent = /^\d+ \(.*\) \w (\d+)/s.exec(stat)?.[1];
    if (parent !== undefined) parents.set(Number(entry), Number(parent));
  }
  const tree = [pid];
  for (const member of tree)
    tree.push(...[...parents].filter(([, parent]) => parent === member).map(([child]) => child));
  for (const member of tree)
    try {
      process.kill(member, signal);
    } catch (error) {
      // A child of a killed postmaster ends by itself.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
}
