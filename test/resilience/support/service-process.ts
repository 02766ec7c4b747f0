import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BuiltProcess, freePort, spawnBuilt, untilListening } from '../../support/process.js';

/** A place for a service's processes: a port that stays the same, and a DATA_DIR. */
export class ServicePlace {
  readonly #started: BuiltProcess[] = [];

  private constructor(
    readonly port: number,
    readonly dataDir: string,
    private readonly isOwnDataDir: boolean,
  ) {}

  /** @param dataDir one to share; otherwise one of its own, which goes with it */
  static async prepare(dataDir?: string): Promise<ServicePlace> {
    const folder = dataDir ?? (await mkdtemp(join(tmpdir(), 'bakery-resilience-')));
    // The embedded server runs as another user when the tests run as root.
    await chmod(folder, 0o755);
    return new ServicePlace(await freePort(), folder, dataDir === undefined);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Starts a process without waiting for it. */
  spawn(settings: Readonly<Record<string, string>>): BuiltProcess {
    const service = spawnBuilt('src/main.js', {
      PORT: String(this.port),
      HOST: '127.0.0.1',
      PUBLIC_URL: this.url,
      DATA_DIR: this.dataDir,
      ...settings,
    });
    this.#started.push(service);
    return service;
  }

  /** Starts a process and waits until it answers. */
  async start(settings: Readonly<Record<string, string>>): Promise<BuiltProcess> {
    const service = this.spawn(settings);
    await untilListening(service, this.url);
    return service;
  }

  /** What all its processes printed. */
  output(): string {
    return this.#started.map((service) => service.output()).join('');
  }

  /** Ends what runs and removes the folder. */
  async clear(): Promise<void> {
    for (const { child, exited } of this.#started) {
      child.kill('SIGTERM');
      await exited;
    }
    if (this.isOwnDataDir) await rm(this.dataDir, { recursive: true, force: true });
  }
}

/** Ends a process as a power cut would. */
export async function killHard({ child, exited }: BuiltProcess): Promise<void> {
  child.kill('SIGKILL');
  await exited;
}
