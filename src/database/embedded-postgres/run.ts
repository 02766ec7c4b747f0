import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** User that runs a program, as options for `spawn`. */
export interface RunAs {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Options for all child processes: messages in English, and none of the service's secrets in the environment. The
 * processes are detached: otherwise a Ctrl-C in the terminal would reach the server too, and abort its last database
 * transactions.
 */
export const CHILD_OPTIONS = {
  cwd: '/',
  env: { LC_ALL: 'C', TZ: 'UTC' },
  detached: true,
};

/**
 * Runs a program. If `stopping` is aborted, kills the program, and waits until the program and its child processes have ended.
 * @throws the reason of `stopping` if it is aborted; Error with the program's standard error if the program fails
 */
export async function run(
  program: string,
  args: readonly string[],
  runAs?: RunAs,
  stopping?: AbortSignal,
): Promise<void> {
  stopping?.throwIfAborted();
  const child = spawn(program, args, { ...CHILD_OPTIONS, ...runAs, stdio: ['ignore', 'ignore', 'pipe'] });
  stopping?.addEventListener('abort', () => child.kill('SIGKILL'));
  let printed = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed += text));
  // Node emits `close` only after all processes that write to this pipe have ended.
  const [code] = (await once(child, 'close')) as [number | null];
  stopping?.throwIfAborted();
  if (code !== 0) throw new Error(printed.trim() || `${program} failed`);
}
