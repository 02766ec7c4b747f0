import { randomBytes } from 'node:crypto';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { readdir, readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createAccountMethods, registerAccount, signIn } from './accounts.js';
import { importBuilt, importPackage } from './built.js';
import { Client } from './client.js';
import { createDatabase, type TestDatabase } from './databases.js';
import { nullIfMissing } from './files.js';
import { createCountMethods } from './guesses.js';
import { useFolder } from './process.js';
import { stopAfterUse } from './stop-after-use.js';

// Random, because some tests start the service with NODE_ENV=production. It then rejects every key of this repository.
const createSecret = (): string => randomBytes(32).toString('hex');
export const ADMIN = { email: 'admin@bakery.example', password: createSecret() } as const;
export const SERVER_KEY = `SB-Mid-server-${createSecret()}`;
export const ACCESS_SECRET = createSecret();
export const REFRESH_SECRET = createSecret();
/** Settings of every service that a test starts, unless the test replaces them. */
export const COMMON_SETTINGS = {
  JWT_ACCESS_SECRET: ACCESS_SECRET,
  JWT_REFRESH_SECRET: REFRESH_SECRET,
  ADMIN_EMAIL: ADMIN.email,
  ADMIN_PASSWORD: ADMIN.password,
  MIDTRANS_SERVER_KEY: SERVER_KEY,
  PAYMENT_GATEWAY: 'simulator',
};

/** The built service, running in the process of the test. */
export type TestService = Readonly<Awaited<ReturnType<typeof useService>>>;

export interface ServiceOptions {
  /** Settings that add to or replace the defaults of the tests. */
  readonly settings?: Readonly<Record<string, string>>;
  /** By default a new database. */
  readonly database?: TestDatabase;
  /** URL of the database through a proxy; by default its direct URL. */
  readonly databaseUrl?: string;
  /** By default the rate of production. */
  readonly minimumReadRate?: { readonly bytesPerSecond: number; readonly windowMs: number };
  /** Idle timeout of forms; by default that of production. */
  readonly formIdleMs?: number;
  /** Fixed port for a service that must know its PUBLIC_URL; by default any free port. */
  readonly port?: number;
}

/** Starts the service, which is stopped after its use. */
export async function useService(options: ServiceOptions = {}) {
  const { AppModule } = await importBuilt('src/app.module.js');
  const { APP_OPTIONS, startApp } = await importBuilt('src/app.setup.js');
  const { LimitedExpressAdapter } = await importBuilt('src/common/http/http-adapter.js');
  const { PaymentGateway } = await importBuilt('src/gateway/payment-gateway.js');
  const { MidtransGateway } = await importBuilt('src/gateway/midtrans.gateway.js');
  const { FormInterceptor } = await importBuilt('src/images/form.interceptor.js');
  const { Test } = await importPackage('@nestjs/testing');
  const { readEnv } = await importBuilt('src/config/read-env.js');
  const { createLogger, createNestLogger, redirectConsole } = await importBuilt(
    'src/common/observability/logging.js',
  );

  const database = options.database ?? (await createDatabase());
  const dataDir = options.settings?.DATA_DIR ?? (await useFolder('bakery-test-'));
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
  // Output of libraries to the console appears in the log, as in `main.ts`.
  redirectConsole(logger);
  // Tests of an unavailable database use a proxy, and the waiting times of production.
  const timeoutFactor = options.databaseUrl === undefined ? 10 : 1;
  const root = AppModule.forRoot(env, { url: options.databaseUrl ?? database.url, timeoutFactor });
  const builder = Test.createTestingModule({ imports: [root] }).setLogger(createNestLogger(logger));
  // A deadline that is long enough for a busy machine.
  if (env.paymentGateway === 'midtrans')
    builder.overrideProvider(PaymentGateway).useValue(new MidtransGateway(env, 30_000));
  if (options.formIdleMs !== undefined)
    builder
      .overrideInterceptor(FormInterceptor)
      .useValue(Object.assign(new FormInterceptor(), { idleMs: options.formIdleMs }));
  const module = await builder.compile();
  const app = module.createNestApplication<NestExpressApplication>(
    new LimitedExpressAdapter(options.minimumReadRate),
    APP_OPTIONS,
  );
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= stopApp(app));
  await stopAfterUse(startApp(app, logger), stop);
  await app.listen(options.port ?? 0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;

  /** Returns the sources of the mails in the outbox, oldest first. */
  const readOutbox = async (): Promise<string[]> => {
    const directory = join(dataDir, 'outbox');
    const names = await nullIfMissing(readdir(directory)); // The first email creates the folder.
    const mails = (names ?? []).filter((name) => name.endsWith('.eml')).sort();
    return Promise.all(mails.map((name) => readFile(join(directory, name), 'utf8')));
  };
  return {
    url,
    app,
    database,
    dataDir,
    /** Parsed log lines so far, oldest first. */
    log,
    /** Returns the log lines of level error, such as those of failed jobs and of responses 5xx. */
    listErrors: () => log.filter(({ level }) => level === 'error'),
    client: () => new Client(url),
    admin: () => signInAdmin(url),
    /** Registers a new account and returns its client. */
    customer: async () => (await registerAccount({ url })).client,
    readOutbox,
    ...createAccountMethods(database, readOutbox),
    ...createCountMethods(database),
    stop,
  };
}

async function stopApp(app: NestExpressApplication): Promise<void> {
  app.getHttpServer().closeAllConnections();
  await app.close();
}

export function signInAdmin(url: string): Promise<Client> {
  return signIn({ url }, ADMIN.email, ADMIN.password);
}
