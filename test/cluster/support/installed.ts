import { spawnSync } from 'node:child_process';

/** PATH with the folder of system programs, which the PATH of a user may lack. */
export const PROGRAM_PATH = `${process.env.PATH ?? ''}:/usr/sbin`;

/**
 * Describes a subject that needs installed programs. Without the programs, the suite fails in CI and is skipped on other
 * machines, where its title names the missing programs.
 */
export function describeInstalled(subject: string, programs: readonly string[], suite: () => void): void {
  const missing = programs.filter((program) => !isInstalled(program));
  if (missing.length === 0) {
    describe(subject, suite);
    return;
  }
  const names = missing.join(', ');
  if (process.env.CI !== undefined) throw new Error(`CI needs ${names}`);
  describe.skip(`${subject} (not installed: ${names})`, suite);
}

function isInstalled(program: string): boolean {
  return spawnSync(program, ['--version'], { env: { PATH: PROGRAM_PATH } }).error === undefined;
}
