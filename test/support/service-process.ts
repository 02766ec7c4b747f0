import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from './client.js';
import { createDatabase, type TestDatabase } from './databases.js';
import { type BuiltProcess, freePort, spawnBuilt, untilListening } from './process.js';
import { ACCESS_SECRET, ADMIN, REFRESH_SECRET, SERVER_KEY } from './service.js';
import { until } from './wait.js';

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
  const dataDir = await mkdtemp(join(tmpdir(), 'bakery-process-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const service = spawnBuilt('src/main.js', {
    PORT: String(port),
    HOST: '127.0.0.1',
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    JWT_ACCESS_SECRET: ACCESS_SECRET,
    JWT_REFRESH_SECRET: REFRESH_SECRET,
    ADMIN_EMAIL: ADMIN.email,
    ADMIN_PASSWORD: ADMIN.password,
    MIDTRANS_SERVER_KEY: SERVER_KEY,
    PAYMENT_GATEWAY: 'simulator',
    ...settings,
  });
  await untilListening(service, url);
  await until('the service is ready', async () => (await fetch(`${url}/api/health/ready`)).ok);
  return {
    ...service,
    url,
    database,
    client: () => new Client(url),
    admin: async () => {
      const client = new Client(url);
      await client.post('/api/login').send(ADMIN).expect(200);
      return client;
    },
    residentMiB: async () => {
      const status = await readFile(`/proc/${service.child.pid ?? 0}/status`, 'utf8');
      return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
    },
    stop: async () => {
      service.child.kill('SIGTERM');
      const code = await service.exited;
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
      return code;
    },
  };
}
