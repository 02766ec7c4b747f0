import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { type BuiltProcess, spawnBuilt } from './process.js';
import { ACCESS_SECRET, REFRESH_SECRET } from './service.js';

type Settings = Readonly<Record<string, string>>;

const COMMAND = 'src/commands/db.js';
const COMMON = { JWT_ACCESS_SECRET: ACCESS_SECRET, JWT_REFRESH_SECRET: REFRESH_SECRET, LOG_LEVEL: 'error' };

/** Starts `npm run db` of the build. */
export function spawnDb(settings: Settings, ...args: readonly string[]): BuiltProcess {
  return spawnBuilt(COMMAND, { ...COMMON, ...settings }, args);
}

/** Runs `npm run db` of the build. */
export async function runDb(
  settings: Settings,
  ...args: readonly string[]
): Promise<{ code: number | null; output: string }> {
  const command = spawnDb(settings, ...args);
  return { code: await command.exited, output: command.output() };
}

/** Runs `npm run db` of the build in another working directory, for example to pass a relative file name. */
export function runDbIn(
  cwd: string,
  settings: Settings,
  ...args: readonly string[]
): { code: number | null; output: string } {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'test', ...COMMON, ...settings };
  const command = [resolve('dist', COMMAND), ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd, env, encoding: 'utf8' });
  return { code: status, output: stdout + stderr };
}
