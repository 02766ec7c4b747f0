import { readFile } from 'node:fs/promises';
import { Client } from './client.js';
import { createDatabase } from './databases.js';
import {
  type BuiltProcess,
  createWorldReadableFolder,
  findFreePort,
  removeFolder,
  spawnBuilt,
  waitUntilListening,
  waitUntilReady,
} from './process.js';
import { COMMON_SETTINGS, signInAdmin } from './service.js';
import { stopAfterTests } from './stop-after-tests.js';

/** Instance of the service: a port and a DATA_DIR that processes use one after the other. */
export class ServiceInstance {
  readonly #started: BuiltProcess[] = [];

  private constructor(
    readonly port: number,
    readonly dataDir: string,
    private readonly isOwnDataDir: boolean,
  ) {}

  /** @param dataDir existing folder to share; by default a new folder, which is removed at the end */
  static async create(dataDir?: string): Promise<ServiceInstance> {
    const folder = dataDir ?? (await createWorldReadableFolder('bakery-instance-'));
    return new ServiceInstance(await findFreePort(), folder, dataDir === undefined);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  admin(): Promise<Client> {
    return signInAdmin(this.url);
  }

  /** Starts a process without waiting until it responds. `buildFolder`: folder with the `dist` of another version. */
  spawn(settings: Readonly<Record<string, string>> = {}, buildFolder?: string): BuiltProcess {
    const all = {
      PORT: String(this.port),
      HOST: '127.0.0.1',
      PUBLIC_URL: this.url,
      DATA_DIR: this.dataDir,
      ...COMMON_SETTINGS,
      ...settings,
    };
    const service = spawnBuilt('src/main.js', all, [], buildFolder);
    this.#started.push(service);
    return service;
  }

  /** Starts a process, like `spawn`, and waits until it responds to requests. */
  async start(settings: Readonly<Record<string, string>> = {}, buildFolder?: string): Promise<BuiltProcess> {
    const service = this.spawn(settings, buildFolder);
    await waitUntilListening(service, this.url);
    return service;
  }

  output(): string {
    return this.#started.map((service) => service.output()).join('');
  }

  /** Stops all processes. Returns the exit codes of all processes. */
  async stop(): Promise<(number | null)[]> {
    const codes = [];
    for (const service of this.#started) codes.push(await stopProcess(service));
    return codes;
  }

  /** Stops all processes. Removes DATA_DIR unless the instance shares an existing folder. */
  async clear(): Promise<void> {
    await this.stop();
    if (this.isOwnDataDir) await removeFolder(this.dataDir);
  }
}

/** Creates an instance for the tests of a file. */
export function useInstance(): Promise<ServiceInstance> {
  return stopAfterTests(ServiceInstance.create(), (instance) => instance.clear());
}

/** Sends SIGTERM. Returns the exit code. */
export async function stopProcess({ child, exited }: BuiltProcess): Promise<number | null> {
  child.kill('SIGTERM');
  return exited;
}

/** Sends SIGKILL and waits for the end of the process. */
export async function killHard({ child, exited }: BuiltProcess): Promise<void> {
  child.kill('SIGKILL');
  await exited;
}

/** Service in a separate process with a separate database. */
export type ServiceProcess = Awaited<ReturnType<typeof startServiceProcess>>;

/** Starts a service process for the tests of a file. */
export function useServiceProcess(settings: Readonly<Record<string, string>> = {}): Promise<ServiceProcess> {
  return stopAfterTests(startServiceProcess(settings), (started) => started.stop());
}

export async function startServiceProcess(settings: Readonly<Record<string, string>> = {}) {
  const database = await createDatabase();
  const instance = await ServiceInstance.create();
  const { url } = instance;
  const clear = async () => {
    await instance.clear();
    await database.drop();
  };
  const service = instance.spawn({ DATABASE_URL: database.url, ...settings });
  try {
    await waitUntilListening(service, url);
    await waitUntilReady(url);
  } catch (error) {
    await clear();
    throw error;
  }
  return {
    ...service,
    url,
    database,
    client: () => new Client(url),
    admin: () => instance.admin(),
    /** Returns the resident memory. Works only on Linux. */
    residentMiB: async () => {
      const status = await readFile(`/proc/${service.child.pid ?? 0}/status`, 'utf8');
      return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
    },
    /** Stops the process and drops the database. Returns the exit code. */
    stop: async () => {
      const code = await stopProcess(service);
      await clear();
      return code;
    },
  };
}
