import { type BuiltProcess, spawnBuilt } from './process.js';
import { ACCESS_SECRET, REFRESH_SECRET } from './service.js';

type Settings = Readonly<Record<string, string>>;

const COMMON = { JWT_ACCESS_SECRET: ACCESS_SECRET, JWT_REFRESH_SECRET: REFRESH_SECRET, LOG_LEVEL: 'error' };

/** Starts `npm run db` of the build. */
export function spawnDb(settings: Settings, ...args: readonly string[]): BuiltProcess {
  return spawnBuilt('src/commands/db.js', { ...COMMON, ...settings }, args);
}

/** Runs `npm run db` of the build. */
export async function runDb(
  settings: Settings,
  ...args: readonly string[]
): Promise<{ code: number | null; output: string }> {
  const command = spawnDb(settings, ...args);
  return { code: await command.exited, output: command.output() };
}
