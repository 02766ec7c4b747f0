import { spawnSync } from 'node:child_process';

/** PATH with the folder of system programs, which the PATH of a user may lack. */
export const PROGRAM_PATH = `${process.env.PATH ?? ''}:/usr/sbin`;

/** Like `describe`. If programs are missing, skips the tests and reports the programs. In CI, throws Error instead. */
export function describeInstalled(subject: string, programs: readonly string[], suite: () => void): void {
  const missing = programs.filter((program) => !isInstalled(program));
  if (missing.length === 0) {
    describe(subject, suite);
    return;
  }
  const reason = `not installed: ${missing.join(', ')}`;
  reportSkipped(reason);
  describe.skip(`${subject} (${reason})`, suite);
}

export function isInstalled(program: string): boolean {
  const { error } = spawnSync(program, ['--version'], { env: { PATH: PROGRAM_PATH } });
  return error === undefined;
}

/** Prints that tests are skipped. Throws Error in CI, where no test may be skipped. */
export function reportSkipped(reason: string): void {
  if (process.env.CI !== undefined) throw new Error(`no test may be skipped in CI: ${reason}`);
  process.stderr.write(`tests are skipped: ${reason}\n`);
}
