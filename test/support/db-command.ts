import { type BuiltProcess, expectExit, spawnBuilt } from './process.js';
import { ACCESS_SECRET, REFRESH_SECRET } from './service.js';

type Settings = Readonly<Record<string, string>>;

const COMMAND = 'src/commands/db.js';
const COMMAND_SETTINGS = {
  JWT_ACCESS_SECRET: ACCESS_SECRET,
  JWT_REFRESH_SECRET: REFRESH_SECRET,
  LOG_LEVEL: 'error',
};

/** Starts the built command `db` without waiting for its end. */
export function spawnDb(settings: Settings, ...args: readonly string[]): BuiltProcess {
  return spawnBuilt(COMMAND, { ...COMMAND_SETTINGS, ...settings }, args);
}

/** Runs the built command `db` and expects this exit code. Returns the output. */
export function runDb(exitCode: number, settings: Settings, ...args: readonly string[]): Promise<string> {
  return expectExit(exitCode, COMMAND, { ...COMMAND_SETTINGS, ...settings }, args);
}
