import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { Client } from './support/client.js';
import { type BuiltProcess, freePort, spawnBuilt, untilListening } from './support/process.js';
import { until } from './support/wait.js';

const MAIN = 'src/main.js';

let dataDir: string;
let port: number;
let url: string;
const processes: BuiltProcess[] = [];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'bakery-lifecycle-'));
  // The embedded server runs as another user when the tests run as root.
  await chmod(dataDir, 0o755);
  port = await freePort();
  url = `http://127.0.0.1:${port}`;
});

afterEach(async () => {
  for (const { child, exited } of processes.splice(0)) {
    child.kill('SIGTERM');
    await exited;
  }
  await rm(dataDir, { recursive: true, force: true });
});

function start(settings: Readonly<Record<string, string>> = {}): BuiltProcess {
  const service = spawnBuilt(MAIN, { PORT: String(port), HOST: '127.0.0.1', DATA_DIR: dataDir, ...settings });
  processes.push(service);
  return service;
}

it('a first start says in one line where the data lies, a second one finds the data', async () => {
  const first = start();
  await untilListening(first, url);
  expect(first.output()).toContain(`the data lies in ${join(dataDir, 'postgres')}`);
  await new Client(url).register({ email: 'kept@example.com', password: 'kept' }).expect(201);
  first.child.kill('SIGTERM');
  expect(await first.exited).toBe(0);

  const second = start();
  await untilListening(second, url);
  expect(second.output()).not.toContain('the data lies in');
  await new Client(url).post('/api/login').send({ email: 'kept@example.com', password: 'kept' }).expect(200);
});

it('after a kill -9 the next start takes over the orphaned database with all that was acknowledged', async () => {
  const first = start();
  await untilListening(first, url);
  await new Client(url).register({ email: 'kept@example.com', password: 'kept' }).expect(201);
  first.child.kill('SIGKILL');
  await first.exited;

  const second = start();
  await untilListening(second, url);
  expect(second.output()).toContain('took over the server of an earlier run');
  await new Client(url).post('/api/login').send({ email: 'kept@example.com', password: 'kept' }).expect(200);
});

it('a second service on the same DATA_DIR is refused with a clear message and disturbs nothing', async () => {
  const first = start();
  await untilListening(first, url);
  const second = start({ PORT: String(await freePort()) });
  expect(await second.exited).toBe(1);
  expect(second.output()).toContain(`DATA_DIR ${dataDir} is in use by another running service`);
  await new Client(url).get('/api/health/ready').expect(200);
});

it('bad settings end the start with one message that names every bad variable', async () => {
  const service = start({
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

it('a port that is taken ends the start with its reason, and the embedded database with it', async () => {
  const squatter = createServer().listen(port, '127.0.0.1');
  await once(squatter, 'listening');
  const refused = start();
  expect(await refused.exited).toBe(1);
  expect(refused.output()).toContain('EADDRINUSE');
  squatter.close();
  await once(squatter, 'close');

  const next = start();
  await untilListening(next, url);
  expect(next.output()).not.toContain('took over');
});

it('SIGTERM lets a request that runs finish, refuses new ones and exits 0', async () => {
  const service = start();
  await untilListening(service, url);
  const body = JSON.stringify({ email: 'ayu@example.com', password: 'wrong' });
  const socket = connect(port, '127.0.0.1');
  const closed = once(socket, 'close');
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
  const head = `POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`;
  socket.write(head + body.slice(0, 10));
  await until('the service has taken the request', () => answer.includes('100 Continue'));
  const idle = connect(port, '127.0.0.1');
  // The service ends it, with a reset if it was not accepted yet.
  idle.on('error', () => undefined);
  await once(idle, 'connect');

  service.child.kill('SIGTERM');
  await until('the service stops accepting', () => refusesConnections(port));
  socket.write(body.slice(10));
  await closed;
  expect(answer).toMatch(/^HTTP\/1\.1 400 /m);
  expect(answer).toContain('email or password is incorrect');
  expect(await service.exited).toBe(0);
});

it('two processes that start at once on one new database migrate it once and share it', async () => {
  const server = new pg.Client({ connectionString: process.env.TEST_POSTGRES_URL });
  await server.connect();
  const name = `shared_${randomBytes(6).toString('hex')}`;
  await server.query(`CREATE DATABASE ${name}`);
  const databaseUrl = new URL(process.env.TEST_POSTGRES_URL ?? '');
  databaseUrl.pathname = `/${name}`;
  try {
    const otherPort = await freePort();
    const settings = {
      DATABASE_URL: databaseUrl.href,
      JWT_ACCESS_SECRET: 'a'.repeat(32),
      JWT_REFRESH_SECRET: 'r'.repeat(32),
    };
    const one = start(settings);
    const other = start({ ...settings, PORT: String(otherPort) });
    const otherUrl = `http://127.0.0.1:${otherPort}`;
    await Promise.all([untilListening(one, url), untilListening(other, otherUrl)]);

    await new Client(url).register({ email: 'both@example.com', password: 'both' }).expect(201);
    await new Client(otherUrl)
      .post('/api/login')
      .send({ email: 'both@example.com', password: 'both' })
      .expect(200);
    for (const { child, exited } of processes.splice(0)) {
      child.kill('SIGTERM');
      expect(await exited).toBe(0);
    }
  } finally {
    await server.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await server.end();
  }
});

it('npm run admin grants, lists and revokes beside the running service, but never revokes the last administrator', async () => {
  const service = start({ ADMIN_EMAIL: 'admin@bakery.example', ADMIN_PASSWORD: 'secret' });
  await untilListening(service, url);
  const customer = new Client(url);
  await customer.register({ email: 'ayu@example.com' }).expect(201);
  const admin = async (...args: string[]) => {
    const command = spawnBuilt('src/commands/admin.js', { DATA_DIR: dataDir }, args);
    return { code: await command.exited, output: command.output() };
  };

  expect(await admin('grant', 'AYU@example.com')).toMatchObject({ code: 0 });
  expect((await admin('list')).output).toContain('ayu@example.com');
  // The claims of the old session are stale: it has ended.
  await customer.get('/api/refresh').expect(401);
  expect(await admin('revoke', 'admin@bakery.example')).toMatchObject({ code: 0 });
  expect(await admin('revoke', 'ayu@example.com')).toMatchObject({ code: 1 });
  expect(await admin('grant', 'nobody@example.com')).toMatchObject({ code: 1 });
  expect(await admin('grant')).toMatchObject({ code: 2 });
});

async function refusesConnections(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return new Promise((resolve) => {
    socket.on('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.on('error', () => {
      resolve(true);
    });
  });
}
