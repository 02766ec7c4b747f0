import { spawnSync } from 'node:child_process';

/** PATH with the folder of system programs, which the PATH of a user may lack. */
export const PROGRAM_PATH = `${process.env.PATH ?? ''}:/usr/sbin`;

/** Like `describe`, but skips the tests if programs are missing (see `describeUnless`). */
export function describeInstalled(subject: string, programs: readonly string[], suite: () => void): void {
  const isMissing = (program: string): boolean =>
    spawnSync(program, ['--version'], { env: { PATH: PROGRAM_PATH } }).error !== undefined;
  const missing = programs.filter(isMissing);
  describeUnless(missing.length === 0 ? null : `not installed: ${missing.join(', ')}`, subject, suite);
}

/** Like `describe`. If there is a reason to skip the tests, skips them and reports the reason. In CI, throws Error instead. */
export function describeUnless(reason: string | null, subject: string, suite: () => void): void {
  if (reason === null) {
    describe(subject, suite);
    return;
  }
  if (process.env.CI !== undefined) throw new Error(`no test may be skipped in CI: ${reason}`);
  process.stderr.write(`tests are skipped: ${reason}\n`);
  describe.skip(`${subject} (${reason})`, suite);
}
