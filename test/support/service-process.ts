import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from './client.js';
import { createDatabase, type TestDatabase } from './databases.js';
import { type BuiltProcess, freePort, spawnBuilt, untilListening } from './process.js';
import { ADMIN, COMMON_SETTINGS } from './service.js';
import { until } from './wait.js';

/** A place for processes of the service and its commands: a port that stays the same, and a DATA_DIR. */
export class ServicePlace {
  readonly #started: BuiltProcess[] = [];

  private constructor(
    readonly port: number,
    readonly dataDir: string,
    private readonly isOwnDataDir: boolean,
  ) {}

  /** @param dataDir one to share; otherwise one of its own, which goes with it */
  static async prepare(dataDir?: string): Promise<ServicePlace> {
    const folder = dataDir ?? (await mkdtemp(join(tmpdir(), 'bakery-place-')));
    // The embedded server runs as another user when the tests run as root.
    if (dataDir === undefined) await chmod(folder, 0o755);
    return new ServicePlace(await freePort(), folder, dataDir === undefined);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** A client that has signed in as the administrator. */
  async admin(): Promise<Client> {
    const client = new Client(this.url);
    await client.post('/api/login').send(ADMIN).expect(200);
    return client;
  }

  /** Starts a process without waiting for it. */
  spawn(settings: Readonly<Record<string, string>> = {}): BuiltProcess {
    const service = spawnBuilt('src/main.js', {
      PORT: String(this.port),
      HOST: '127.0.0.1',
      PUBLIC_URL: this.url,
      DATA_DIR: this.dataDir,
      ...COMMON_SETTINGS,
      ...settings,
    });
    this.#started.push(service);
    return service;
  }

  /** Starts a process and waits until it answers. */
  async start(settings: Readonly<Record<string, string>> = {}): Promise<BuiltProcess> {
    const service = this.spawn(settings);
    await untilListening(service, this.url);
    return service;
  }

  /** What all its processes printed. */
  output(): string {
    return this.#started.map((service) => service.output()).join('');
  }

  /** Ends what runs. @returns the exit codes of all processes */
  async stop(): Promise<(number | null)[]> {
    const codes = [];
    for (const service of this.#started) codes.push(await stopProcess(service));
    return codes;
  }

  /** Ends what runs and removes the folder. */
  async clear(): Promise<void> {
    await this.stop();
    if (this.isOwnDataDir) await rm(this.dataDir, { recursive: true, force: true });
  }
}

/** SIGTERM. @returns the exit code */
export async function stopProcess({ child, exited }: BuiltProcess): Promise<number | null> {
  child.kill('SIGTERM');
  return exited;
}

/** Ends a process as a power cut would. */
export async function killHard({ child, exited }: BuiltProcess): Promise<void> {
  child.kill('SIGKILL');
  await exited;
}

/** The service as a process of its own, on a database of its own. */
export interface ServiceProcess extends BuiltProcess {
  readonly url: string;
  readonly database: TestDatabase;
  client(): Client;
  admin(): Promise<Client>;
  /** Resident memory in MiB. Linux alone has it. */
  residentMiB(): Promise<number>;
  /** SIGTERM; @returns the exit code */
  stop(): Promise<number | null>;
}

export async function startServiceProcess(
  settings: Readonly<Record<string, string>> = {},
): Promise<ServiceProcess> {
  const database = await createDatabase();
  const place = await ServicePlace.prepare();
  const { url } = place;
  const service = await place.start({ DATABASE_URL: database.url, ...settings });
  await until('the service is ready', async () => (await fetch(`${url}/api/health/ready`)).ok);
  return {
    ...service,
    url,
    database,
    client: () => new Client(url),
    admin: () => place.admin(),
    residentMiB: async () => {
      const status = await readFile(`/proc/${service.child.pid ?? 0}/status`, 'utf8');
      return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
    },
    stop: async () => {
      const code = await stopProcess(service);
      await place.clear();
      await database.drop();
      return code;
    },
  };
}
