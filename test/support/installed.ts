import { spawnSync } from 'node:child_process';

/** PATH with the folder of system programs, which the PATH of a user may lack. */
export const PROGRAM_PATH = `${process.env.PATH ?? ''}:/usr/sbin`;

/** Like `describe`. If programs are missing, skips the tests and names the programs in the title. In CI, throws instead. */
export function describeInstalled(subject: string, programs: readonly string[], suite: () => void): void {
  const missing = programs.filter((program) => !isInstalled(program));
  if (missing.length === 0) describe(subject, suite);
  else describe.skip(`${subject} (not installed: ${missing.join(', ')})`, suite);
}

/** Returns true if a program is installed. Throws Error in CI if the program is missing. */
export function isInstalled(program: string): boolean {
  const { error } = spawnSync(program, ['--version'], { env: { PATH: PROGRAM_PATH } });
  if (error !== undefined && process.env.CI !== undefined) throw new Error(`CI needs ${program}`);
  return error === undefined;
}
