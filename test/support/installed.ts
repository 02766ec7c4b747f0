import { spawnSync } from 'node:child_process';

/** PATH with the folder of system programs, which the PATH of a user may lack. */
export const PROGRAM_PATH = `${process.env.PATH ?? ''}:/usr/sbin`;

/** Like `describe`, but skips the tests if programs are missing (see `describeUnless`). */
export function describeInstalled(subject: string, programs: readonly string[], suite: () => void): void {
  const missing = programs.filter((program) => !isInstalled(program));
  describeUnless(missing.length === 0 ? null : `not installed: ${missing.join(', ')}`, subject, suite);
}

/** Like `describe`. If there is a reason to skip the tests, skips them and reports the reason. In CI, throws Error instead. */
export function describeUnless(reason: string | null, subject: string, suite: () => void): void {
  if (reason === null) {
    describe(subject, suite);
    return;
  }
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
