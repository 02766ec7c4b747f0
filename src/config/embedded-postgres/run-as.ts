import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { devNull } from 'node:os';
import { promisify } from 'node:util';
import { errorCode } from './files.js';

const execute = promisify(execFile);

/** The user that the server runs as: numeric ids for `spawn`; absent where this process may run it itself. */
export interface RunAs {
  uid: number;
  gid: number;
}

/** What every program of PostgreSQL is started with: its messages in English, and none of our secrets. */
export const CHILD_OPTIONS = { cwd: '/', env: { PATH: process.env.PATH ?? '', LC_ALL: 'C', TZ: 'UTC' } };

/**
 * PostgreSQL refuses to run as root, so root lends it an unprivileged user: `postgres` where the system has
 * one (`_postgres` on macOS), else `nobody`.
 * @throws Error where this is root and the system has none of them
 */
export async function unprivilegedUser(): Promise<RunAs | undefined> {
  if (process.geteuid?.() !== 0) return undefined;
  const entries = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const wanted of ['postgres', '_postgres', 'nobody']) {
    const entry = entries.find(([name]) => name === wanted);
    const [uid, gid] = [Number(entry?.[2]), Number(entry?.[3])];
    if (entry && Number.isInteger(uid) && Number.isInteger(gid) && uid !== 0) return { uid, gid };
  }
  throw new Error(
    'the embedded PostgreSQL cannot run as root, and this system has neither a user "postgres" nor "nobody": ' +
      'start the service as an ordinary user, or set DATABASE_URL',
  );
}

/** Whether that user can enter the folder, which takes the search permission on every folder above it. */
export async function canEnter(folder: string, runAs: RunAs): Promise<boolean> {
  try {
    await execute('/bin/sh', ['-c', `cd -- "$1" 2>${devNull}`, 'sh', folder], { ...CHILD_OPTIONS, ...runAs });
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') throw error; // no shell: says nothing about the folder
    return false;
  }
}

/**
 * Runs a program of PostgreSQL to its end and gives what it printed.
 * @throws Error with `stderr` where it fails or cannot be started
 */
export async function run(program: string, args: string[], runAs: RunAs | undefined): Promise<string> {
  const { stdout } = await execute(program, args, { ...CHILD_OPTIONS, ...runAs, maxBuffer: 1024 * 1024 });
  return stdout;
}
