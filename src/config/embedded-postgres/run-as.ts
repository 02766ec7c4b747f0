import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** The user that the server runs as: numeric ids for `spawn`. */
export interface RunAs {
  readonly uid: number;
  readonly gid: number;
}

/** What every program of PostgreSQL is started with: its messages in English, and none of our secrets. */
export const CHILD_OPTIONS = { cwd: '/', env: { PATH: process.env.PATH ?? '', LC_ALL: 'C', TZ: 'UTC' } };

/**
 * PostgreSQL refuses to run as root. Root runs it as `postgres` where the system has such a user (`_postgres` on
 * macOS), else as `nobody`.
 * @returns undefined where this process is not root and may run it itself
 */
export async function unprivilegedUser(): Promise<RunAs | undefined> {
  if (process.geteuid?.() !== 0) return undefined;
  const entries = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const wanted of ['postgres', '_postgres', 'nobody']) {
    const [, , uid, gid] = entries.find(([name]) => name === wanted) ?? [];
    if (Number(uid) > 0) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error(
    'the embedded PostgreSQL cannot run as root, and this system has neither a user "postgres" nor "nobody": ' +
      'start the service as an ordinary user, or set DATABASE_URL',
  );
}

/** Whether that user can enter the folder, which takes the search permission on every folder above it. */
export function canEnter(folder: string, runAs: RunAs): Promise<boolean> {
  return run('/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder], runAs).then(
    () => true,
    () => false,
  );
}

/**
 * Runs a program to its end and gives what it printed.
 * @throws Error with what it printed on its standard error
 */
export async function run(program: string, args: readonly string[], runAs?: RunAs): Promise<string> {
  try {
    return (await promisify(execFile)(program, args, { ...CHILD_OPTIONS, ...runAs })).stdout;
  } catch (error) {
    const { stderr, message } = error as { readonly stderr?: string; readonly message: string };
    throw new Error(stderr?.trim() === '' ? message : (stderr?.trim() ?? message), { cause: error });
  }
}
