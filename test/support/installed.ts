import { spawnSync } from 'node:child_process';

/** PATH with the folder of system programs, which the PATH of a user may lack. */
export const PROGRAM_PATH = `${process.env.PATH ?? ''}:/usr/sbin`;

/** Like `describe`. If programs are missing, skips the tests and names the programs in the title. In CI, throws instead. */
export function describeInstalled(subject: string, programs: readonly string[], suite: () => void): void {
  const missing = programs.filter((program) => !isInstalled(program));
  if (missing.length === 0) describe(subject, suite);
  else describe.skip(`${subject} (not installed: ${missing.join(', ')})`, suite);
}

/** Returns true if a program is installed. If the program is missing, prints a line. In CI, throws Error instead. */
export function isInstalled(program: string): boolean {
  const { error } = spawnSync(program, ['--version'], { env: { PATH: PROGRAM_PATH } });
  if (error !== undefined) reportSkipped(`${program} is not installed`);
  return error === undefined;
}

/** Prints that tests are skipped. Throws Error in CI, where no test may be skipped. */
export function reportSkipped(reason: string): void {
  if (process.env.CI !== undefined) throw new Error(`no test may be skipped in CI: ${reason}`);
  process.stderr.write(`tests are skipped: ${reason}\n`);
}
