import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** User that runs a program, as options for `execFile` and `spawn`. */
export interface RunAs {
  readonly uid: number;
  readonly gid: number;
}

/** Options for all programs of PostgreSQL: messages in English, and none of the service's secrets in the environment. */
export const CHILD_OPTIONS = { cwd: '/', env: { PATH: process.env.PATH ?? '', LC_ALL: 'C', TZ: 'UTC' } };

/** @throws Error with the program's standard error */
export async function run(program: string, args: readonly string[], runAs?: RunAs): Promise<void> {
  try {
    await promisify(execFile)(program, args, { ...CHILD_OPTIONS, ...runAs });
  } catch (error) {
    const { stderr, message } = error as { readonly stderr?: string; readonly message: string };
    throw new Error(stderr?.trim() ? stderr.trim() : message, { cause: error });
  }
}
