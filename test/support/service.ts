import { randomBytes } from 'node:crypto';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { built } from './built.js';
import { Client } from './client.js';
import { createDatabase, type TestDatabase } from './databases.js';

// Made anew for each run: production refuses what a file publishes.
const secret = (): string => randomBytes(32).toString('hex');
export const ADMIN = { email: 'admin@bakery.example', password: secret() } as const;
export const SERVER_KEY = `SB-Mid-server-${secret()}`;
export const ACCESS_SECRET = secret();
export const REFRESH_SECRET = secret();
/** Of every service that a test starts. */
export const COMMON_SETTINGS = {
  JWT_ACCESS_SECRET: ACCESS_SECRET,
  JWT_REFRESH_SECRET: REFRESH_SECRET,
  ADMIN_EMAIL: ADMIN.email,
  ADMIN_PASSWORD: ADMIN.password,
  MIDTRANS_SERVER_KEY: SERVER_KEY,
  PAYMENT_GATEWAY: 'simulator',
};

/** The service as it ships, in this process, on a port and a database of its own. */
export interface TestService {
  readonly url: string;
  readonly app: NestExpressApplication;
  readonly database: TestDatabase;
  readonly dataDir: string;
  /** Parsed log lines so far, oldest first. */
  readonly log: readonly Record<string, unknown>[];
  /** A client without cookies. */
  client(): Client;
  /** A client that has signed in as the administrator. */
  admin(): Promise<Client>;
  /** A client that has just registered under a fresh e-mail. */
  customer(): Promise<Client>;
  /** Texts of the mails in the outbox, oldest first. */
  outbox(): Promise<string[]>;
  stop(): Promise<void>;
}

export interface ServiceOptions {
  /** Settings besides or instead of the tests' own. */
  readonly settings?: Readonly<Record<string, string>>;
  /** A database to use and keep; otherwise the service gets one that goes with it. */
  readonly database?: TestDatabase;
  /** Where the service finds the database, if not directly: a proxy. */
  readonly databaseUrl?: string;
  /** A port chosen beforehand, for a service that must know its own PUBLIC_URL; otherwise any free one. */
  readonly listenOn?: number;
}

export async function startService(options: ServiceOptions = {}): Promise<TestService> {
  const { createApp } = await built('src/app.setup.js');
  const { readEnv } = await built('src/config/env.js');
  const { createLogger, routeConsole } = await built('src/common/logging.js');
  const { Database } = await built('src/config/database.js');

  const database = options.database ?? (await createDatabase());
  const dataDir = options.settings?.DATA_DIR ?? (await mkdtemp(join(tmpdir(), 'bakery-test-')));
  const log: Record<string, unknown>[] = [];
  const env = readEnv({
    NODE_ENV: 'test',
    PORT: '0',
    HOST: '127.0.0.1',
    PUBLIC_URL: 'http://bakery.test',
    DATA_DIR: dataDir,
    ...COMMON_SETTINGS,
    ...options.settings,
  });
  const logger = createLogger(env, {
    write: (line: string) => void log.push(JSON.parse(line) as Record<string, unknown>),
  });
  // As the service does: what libraries print by themselves is part of its log.
  routeConsole(logger);
  const app = await createApp(env, new Database(options.databaseUrl ?? database.url, false), logger);
  await app.listen(options.listenOn ?? 0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;

  let customers = 0;
  return {
    url,
    app,
    database,
    dataDir,
    log,
    client: () => new Client(url),
    admin: async () => {
      const client = new Client(url);
      await client.post('/api/login').send(ADMIN).expect(200);
      return client;
    },
    customer: async () => {
      const client = new Client(url);
      customers += 1;
      await client.register({ email: `customer-${customers}-${Date.now()}@example.com` }).expect(201);
      return client;
    },
    outbox: async () => {
      const directory = join(dataDir, 'outbox');
      const names = await readdir(directory).catch(() => []);
      const mails = names.filter((name) => name.endsWith('.eml')).sort();
      return Promise.all(mails.map((name) => readFile(join(directory, name), 'utf8')));
    },
    stop: async () => {
      app.getHttpServer().closeAllConnections();
      await app.close();
      if (options.database === undefined) await database.drop();
      if (options.settings?.DATA_DIR === undefined) await rm(dataDir, { recursive: true, force: true });
    },
  };
}
