import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { embeddedDatabaseUrl } from '../support/embedded-database.js';
import { Client } from '../support/client.js';
import { type BuiltProcess, freePort, spawnBuilt } from '../support/process.js';
import { ServicePlace, stopProcess } from '../support/service-process.js';

let place: ServicePlace;

beforeEach(async () => {
  place = await ServicePlace.prepare();
});

afterEach(() => place.clear());

/** One line says why the service could not start, and no line has a stack. */
function expectOneLine(service: BuiltProcess, message: string): void {
  const failures = service
    .output()
    .split('\n')
    .filter((line) => /"level":"(error|fatal)"/.test(line));
  expect(failures).toEqual([expect.stringContaining(`the service could not start: ${message}`)]);
  expect(service.output()).not.toContain('"stack"');
}

it('a first start says in one line where the data lies, a second service on it is refused, a later one finds the data', async () => {
  const first = await place.start();
  expect(first.output()).toContain(`the data lies in ${join(place.dataDir, 'postgres')}`);
  await new Client(place.url).register({ email: 'kept@example.com', password: 'kept' }).expect(201);

  const intruder = place.spawn({ PORT: String(await freePort()) });
  expect(await intruder.exited).toBe(1);
  expect(intruder.output()).toContain(`DATA_DIR ${place.dataDir} is in use by another running service`);
  await new Client(place.url).get('/api/health/ready').expect(200);
  expect(await stopProcess(first)).toBe(0);

  const second = await place.start();
  expect(second.output()).not.toContain('the data lies in');
  await new Client(place.url)
    .post('/api/login')
    .send({ email: 'kept@example.com', password: 'kept' })
    .expect(200);
});

it('a database whose password was removed is not replaced: the start ends and names the file and the folder', async () => {
  const first = await place.start();
  expect(await stopProcess(first)).toBe(0);
  await rm(join(place.dataDir, 'postgres-password'));
  const second = place.spawn();
  expect(await second.exited).toBe(1);
  expect(second.output()).toContain(join(place.dataDir, 'postgres-password'));
  expect(second.output()).toContain(`the database in ${join(place.dataDir, 'postgres')}: restore the file`);
});

it('bad settings end the start with one message that names every bad variable', async () => {
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

it('a port in use ends the start with one line that says what to set, and the embedded database ends with it', async () => {
  const other = createServer().listen(place.port, '127.0.0.1');
  await once(other, 'listening');
  const refused = place.spawn();
  expect(await refused.exited).toBe(1);
  expectOneLine(refused, `port ${place.port} is in use: set PORT to another one`);
  const metrics = place.spawn({ PORT: String(await freePort()), METRICS_PORT: String(place.port) });
  expect(await metrics.exited).toBe(1);
  expectOneLine(metrics, `port ${place.port} is in use: set METRICS_PORT to another one`);
  other.close();
  expect(await embeddedDatabaseUrl(place.dataDir)).toBeUndefined();
});

it.each([
  ['a database that is not there', '127.0.0.1:9', 'does not accept connections: is it running there?'],
  ['a host that does not exist', 'nowhere.invalid', 'is on a host that cannot be found'],
  ['no certificate', '127.0.0.1', 'cannot be reached: ENOENT: no such file', '?sslrootcert=/none.pem'],
])('%s ends the start with one line', async (_what, host, message, query = '') => {
  const service = place.spawn({ DATABASE_URL: `postgresql://shop:secret-word@${host}/shop${query}` });
  expect(await service.exited).toBe(1);
  expectOneLine(service, `the database of DATABASE_URL (${host}/shop) ${message}`);
  expect(service.output()).not.toContain('secret-word');
});

it.each(['192.0.2.1', 'nowhere.invalid'])('HOST %s ends the start with one line', async (HOST) => {
  const service = place.spawn({ HOST });
  expect(await service.exited).toBe(1);
  expectOneLine(service, `HOST ${HOST} is no address of this machine`);
});

it('the log names the address that the service listens on', async () => {
  const service = await place.start({ PUBLIC_URL: 'https://bakery.example' });
  expect(service.output()).toContain(
    `listening on 127.0.0.1 port ${place.port}; API documentation at ${place.url}/api/docs`,
  );
});

it('npm run admin grants, lists and revokes beside the running service, but never revokes the last administrator', async () => {
  await place.start({ ADMIN_EMAIL: 'admin@bakery.example', ADMIN_PASSWORD: 'secret' });
  const customer = new Client(place.url);
  await customer.register({ email: 'ayu@example.com' }).expect(201);
  const admin = async (...args: string[]) => {
    const command = spawnBuilt('src/commands/admin.js', { DATA_DIR: place.dataDir }, args);
    return { code: await command.exited, output: command.output() };
  };

  expect(await admin('grant', 'AYU@example.com')).toMatchObject({ code: 0 });
  expect((await admin('list')).output).toContain('ayu@example.com');
  // The claims of the old session are stale: it has ended.
  await customer.get('/api/refresh').expect(401);
  expect(await admin('revoke', 'admin@bakery.example')).toMatchObject({ code: 0 });
  const refused = await Promise.all([
    admin('revoke', 'ayu@example.com'),
    admin('grant', 'stranger@example.com'),
    admin('grant'),
  ]);
  expect(refused.map(({ code }) => code)).toEqual([1, 1, 2]);
});
