import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** The user that a program runs as: numeric ids for `spawn`. */
export interface RunAs {
  readonly uid: number;
  readonly gid: number;
}

/** What every program of PostgreSQL is started with: its messages in English, and none of our secrets. */
export const CHILD_OPTIONS = { cwd: '/', env: { PATH: process.env.PATH ?? '', LC_ALL: 'C', TZ: 'UTC' } };

/**
 * Runs a program to its end.
 * @param runAs this process's own user if it is left out
 * @throws Error with what it printed on its standard error
 */
export async function run(program: string, args: readonly string[], runAs?: RunAs): Promise<void> {
  try {
    await promisify(execFile)(program, args, { ...CHILD_OPTIONS, ...runAs });
  } catch (error) {
    const { stderr, message } = error as { readonly stderr?: string; readonly message: string };
    throw new Error(stderr?.trim() ? stderr.trim() : message, { cause: error });
  }
}
