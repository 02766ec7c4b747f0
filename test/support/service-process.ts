import { readFile } from 'node:fs/promises';
import { Client } from './client.js';
import { createDatabase } from './databases.js';
import {
  type BuiltProcess,
  findFreePort,
  spawnBuilt,
  useFolder,
  waitUntilListening,
  waitUntilReady,
} from './process.js';
import { COMMON_SETTINGS, signInAdmin } from './service.js';
import { stopAfterUse } from './stop-after-use.js';

/** Instance of the service: a port and a DATA_DIR that processes use one after the other. */
export class ServiceInstance {
  readonly #started: BuiltProcess[] = [];

  private constructor(
    readonly port: number,
    readonly dataDir: string,
  ) {}

  /**
   * Creates an instance, whose processes are stopped after its use.
   * @param dataDir existing folder to share; by default a new folder, which is removed after its use
   */
  static async create(dataDir?: string): Promise<ServiceInstance> {
    const folder = dataDir ?? (await useFolder('bakery-instance-'));
    return stopAfterUse(new ServiceInstance(await findFreePort(), folder), (instance) => instance.stop());
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
export type ServiceProcess = Awaited<ReturnType<typeof useServiceProcess>>;

/** Starts a service process, which is stopped after its use. */
export async function useServiceProcess(settings: Readonly<Record<string, string>> = {}) {
  const database = await createDatabase();
  const instance = await ServiceInstance.create();
  const { url } = instance;
  const service = await instance.start({ DATABASE_URL: database.url, ...settings });
  await waitUntilReady(url);
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
    /** Stops the process. Returns the exit code. */
    stop: () => stopProcess(service),
  };
}
