import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { embeddedDatabaseUrl } from '../support/embedded-database.js';
import { Client } from '../support/client.js';
import { DatabaseProxy } from '../support/database-proxy.js';
import { createDatabase } from '../support/databases.js';
import { type BuiltProcess, freePort, spawnBuilt, untilListening } from '../support/process.js';
import { ServicePlace, stopProcess } from '../support/service-process.js';
import { until } from '../support/wait.js';

let place: ServicePlace;

beforeEach(async () => {
  place = await ServicePlace.prepare();
});

afterEach(() => place.clear());

/** Expects exactly one error line, which names the reason for the failed start, and no stack trace. */
function expectStartFailure(service: BuiltProcess, message: string): void {
  const failures = service
    .output()
    .split('\n')
    .filter((line) => /"level":"(error|fatal)"/.test(line));
  expect(failures).toEqual([expect.stringContaining(`the service could not start: ${message}`)]);
  expect(service.output()).not.toContain('"stack"');
}

it('the first start logs the data folder, a second service on the same folder fails, and a restart finds the data', async () => {
  const first = await place.start();
  expect(first.output()).toContain(`the data is stored in ${join(place.dataDir, 'postgres')}`);
  await new Client(place.url).register({ email: 'kept@example.com', password: 'kept' }).expect(201);

  const concurrent = place.spawn({ PORT: String(await freePort()) });
  expect(await concurrent.exited).toBe(1);
  expect(concurrent.output()).toContain(`DATA_DIR ${place.dataDir} is in use by another running service`);
  await new Client(place.url).get('/api/health/ready').expect(200);
  expect(await stopProcess(first)).toBe(0);

  const second = await place.start();
  expect(second.output()).not.toContain('the data is stored in');
  await new Client(place.url)
    .post('/api/login')
    .send({ email: 'kept@example.com', password: 'kept' })
    .expect(200);
});

it('a start without the password file of the embedded database fails and names the file and the database folder', async () => {
  const first = await place.start();
  expect(await stopProcess(first)).toBe(0);
  await rm(join(place.dataDir, 'postgres-password'));
  const second = place.spawn();
  expect(await second.exited).toBe(1);
  expect(second.output()).toContain(join(place.dataDir, 'postgres-password'));
  expect(second.output()).toContain(`the database in ${join(place.dataDir, 'postgres')}: restore the file`);
});

it('a start with bad settings fails with one message that names every bad variable', async () => {
  const service = place.spawn({
    PORT: 'x',
    JWT_ACCESS_SECRET: 'short',
    IMAGE_HOST: 'ftp',
    CORS_ORIGINS: 'shop.example',
  });
  expect(await service.exited).toBe(1);
  for (const name of ['PORT', 'JWT_ACCESS_SECRET', 'IMAGE_HOST', 'CORS_ORIGINS']) {
    expect(service.output()).toMatch(new RegExp(`^ {2}${name} `, 'm'));
  }
  expect(service.output()).not.toContain('short');
});

it('a start on a port in use fails with one line that names the setting, and leaves no embedded database running', async () => {
  const other = createServer().listen(place.port, '127.0.0.1');
  await once(other, 'listening');
  const service = place.spawn();
  expect(await service.exited).toBe(1);
  expectStartFailure(service, `port ${place.port} is in use: set PORT to another one`);
  const withMetrics = place.spawn({ PORT: String(await freePort()), METRICS_PORT: String(place.port) });
  expect(await withMetrics.exited).toBe(1);
  expectStartFailure(withMetrics, `port ${place.port} is in use: set METRICS_PORT to another one`);
  other.close();
  expect(await embeddedDatabaseUrl(place.dataDir)).toBeUndefined();
});

it.each([
  ['a host that does not exist', 'nowhere.invalid', 'is on a host that cannot be found'],
  ['a missing certificate', '127.0.0.1', 'cannot be reached: ENOENT: no such file', '?sslrootcert=/none.pem'],
])('a start with %s in DATABASE_URL fails with one line', async (_problem, host, message, query = '') => {
  const service = place.spawn({ DATABASE_URL: `postgresql://shop:secret-word@${host}/shop${query}` });
  expect(await service.exited).toBe(1);
  expectStartFailure(service, `the database of DATABASE_URL (${host}/shop) ${message}`);
  expect(service.output()).not.toContain('secret-word');
});

it('a start in production logs a warning for each of SMTP_URL, PUBLIC_URL and CORS_ORIGINS that is unset', async () => {
  const production = {
    NODE_ENV: 'production',
    PAYMENT_GATEWAY: 'midtrans',
    DATABASE_URL: 'postgresql://nowhere.invalid/shop',
  };
  const findWarnings = async (settings: Record<string, string>) => {
    const service = place.spawn({ ...production, ...settings });
    await service.exited;
    return [...service.output().matchAll(/"level":"warn".*"msg":"(\w+) is unset: /g)].map(([, name]) => name);
  };
  expect(await findWarnings({ PUBLIC_URL: '' })).toEqual(['SMTP_URL', 'PUBLIC_URL', 'CORS_ORIGINS']);
  const settings = { SMTP_URL: 'smtp://mail.example', CORS_ORIGINS: 'https://shop.example' };
  expect(await findWarnings(settings)).toEqual([]);
});

it('a start with sslmode=require in DATABASE_URL logs no security warning of the PostgreSQL driver', async () => {
  const service = place.spawn({ DATABASE_URL: 'postgresql://nowhere.invalid/shop?sslmode=require' });
  expect(await service.exited).toBe(1);
  expectStartFailure(
    service,
    'the database of DATABASE_URL (nowhere.invalid/shop) is on a host that cannot be found',
  );
  expect(service.output()).not.toContain('WARNING');
});

it('a start with a DATABASE_URL that refuses connections retries for 60 seconds, logs a line every 5 seconds, and fails with one line', async () => {
  const reason =
    'the database of DATABASE_URL (127.0.0.1:9/shop) does not accept connections: is it running there?';
  const service = place.spawn({ DATABASE_URL: 'postgresql://shop:secret-word@127.0.0.1:9/shop' });
  const startedAt = performance.now();
  expect(await service.exited).toBe(1);
  expect(performance.now() - startedAt).toBeGreaterThan(60_000);
  expectStartFailure(service, reason);
  const lines = service.output().split(`waiting for the database: ${reason}`).length - 1;
  expect(lines).toBeGreaterThanOrEqual(10);
  expect(lines).toBeLessThanOrEqual(13);
});

it('a service that starts while its database is unavailable becomes ready when the database is back', async () => {
  const database = await createDatabase();
  const proxy = await DatabaseProxy.start(database.url);
  await proxy.down();
  try {
    const service = place.spawn({ DATABASE_URL: proxy.url });
    await until('the start waits for the database', () =>
      service.output().includes('waiting for the database'),
    );
    await proxy.up();
    await untilListening(service, place.url);
    await until('the service is ready', async () => (await fetch(`${place.url}/api/health/ready`)).ok);
  } finally {
    await place.stop();
    await proxy.down();
    await database.drop();
  }
});

it.each(['192.0.2.1', 'nowhere.invalid'])(
  'a start with HOST %s, no address of this machine, fails with one line',
  async (HOST) => {
    const service = place.spawn({ HOST });
    expect(await service.exited).toBe(1);
    expectStartFailure(service, `HOST ${HOST} is no address of this machine`);
  },
);

it('the service logs the address and port that it listens on', async () => {
  const service = await place.start({ PUBLIC_URL: 'https://bakery.example' });
  expect(service.output()).toContain(
    `listening on 127.0.0.1 port ${place.port}; API documentation at ${place.url}/api/docs`,
  );
});

it('npm run admin grants, lists and revokes roles while the service runs, but never revokes the last administrator', async () => {
  await place.start({ ADMIN_EMAIL: 'admin@bakery.example', ADMIN_PASSWORD: 'secret' });
  const customer = new Client(place.url);
  await customer.register({ email: 'ayu@example.com' }).expect(201);
  const runAdmin = async (...args: string[]) => {
    const command = spawnBuilt('src/commands/admin.js', { DATA_DIR: place.dataDir }, args);
    return { code: await command.exited, output: command.output() };
  };

  expect(await runAdmin('grant', 'AYU@example.com')).toMatchObject({ code: 0 });
  expect((await runAdmin('list')).output).toContain('ayu@example.com');
  await customer.get('/api/refresh').expect(401); // A change of role ends all sessions.
  expect(await runAdmin('revoke', 'admin@bakery.example')).toMatchObject({ code: 0 });
  const rejected = await Promise.all([
    runAdmin('revoke', 'ayu@example.com'),
    runAdmin('grant', 'stranger@example.com'),
    runAdmin('grant'),
  ]);
  expect(rejected.map(({ code }) => code)).toEqual([1, 1, 2]);
});
