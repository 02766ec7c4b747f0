import { mkdtemp, chmod, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BuiltProcess, freePort, spawnBuilt, untilListening } from './process.js';
import { ACCESS_SECRET, ADMIN, REFRESH_SECRET } from './service.js';

const SECRETS = {
  JWT_ACCESS_SECRET: ACCESS_SECRET,
  JWT_REFRESH_SECRET: REFRESH_SECRET,
  LOG_LEVEL: 'error',
  HOST: '127.0.0.1',
};

/** What a command printed and how it ended. */
export interface CommandResult {
  readonly code: number | null;
  readonly output: string;
}

/** Runs `npm run db` of the build. */
export async function db(
  settings: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<CommandResult> {
  const command = spawnDb(settings, ...args);
  return { code: await command.exited, output: command.output() };
}

/** Starts `npm run db` of the build. */
export function spawnDb(
  settings: Readonly<Record<string, string>>,
  ...args: readonly string[]
): BuiltProcess {
  return spawnBuilt('src/commands/db.js', { ...SECRETS, ...settings }, args);
}

/** Services with embedded databases below one folder, all of it gone after `close`. */
export class EmbeddedServices {
  readonly #processes = new Set<BuiltProcess>();

  private constructor(readonly root: string) {}

  static async open(): Promise<EmbeddedServices> {
    const root = await mkdtemp(join(tmpdir(), 'bakery-db-command-'));
    await chmod(root, 0o755); // as root the server runs as another user, who must get to it
    return new EmbeddedServices(root);
  }

  /** A path below the folder. */
  at(name: string): string {
    return join(this.root, name);
  }

  async start(dataDir: string): Promise<{ readonly url: string; stop(): Promise<void> }> {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const service = spawnBuilt('src/main.js', {
      ...SECRETS,
      DATA_DIR: dataDir,
      PORT: String(port),
      PUBLIC_URL: url,
      ADMIN_EMAIL: ADMIN.email,
      ADMIN_PASSWORD: ADMIN.password,
    });
    this.#processes.add(service);
    await untilListening(service, url);
    return {
      url,
      stop: async () => {
        service.child.kill('SIGTERM');
        expect(await service.exited).toBe(0);
      },
    };
  }

  async close(): Promise<void> {
    for (const { child, exited } of this.#processes) {
      if (child.exitCode === null) child.kill('SIGTERM');
      await exited;
    }
    await rm(this.root, { recursive: true, force: true });
  }
}
