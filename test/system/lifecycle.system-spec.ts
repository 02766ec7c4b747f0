import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { findEmbeddedDatabaseUrl, findServerPid } from '../support/embedded-database.js';
import { Client } from '../support/client.js';
import { DatabaseProxy } from '../support/database-proxy.js';
import { createDatabase } from '../support/databases.js';
import {
  type BuiltProcess,
  expectExit,
  findFreePort,
  useFolder,
  waitUntilListening,
  waitUntilReady,
} from '../support/process.js';
import { ADMIN } from '../support/service.js';
import { measureRunning } from '../support/measure.js';
import { ServiceInstance, stopProcess } from '../support/service-process.js';
import { until } from '../support/wait.js';

const REFUSED_DATABASE = 'postgresql://shop:secret-word@127.0.0.1:9/shop';

const database = await createDatabase();
const instance = await ServiceInstance.create();
const root = await useFolder('bakery-lifecycle-');
/** Service that retries for 60 seconds to reach its database, while the other tests run. */
let retrying: BuiltProcess;
let retryDurationMs: Promise<number>;

beforeAll(() => {
  const startedAt = performance.now();
  retrying = instance.spawn({ DATABASE_URL: REFUSED_DATABASE });
  retryDurationMs = retrying.exited.then(() => performance.now() - startedAt);
});

/** Expects that a start fails with exactly one error line, which names the reason, and without a stack trace. */
async function expectStartFailure(service: BuiltProcess, message: string): Promise<void> {
  expect(await service.exited).toBe(1);
  const failures = service.output().match(/^.*"level":"(error|fatal)".*$/gm);
  expect(failures).toEqual([expect.stringContaining(`the service could not start: ${message}`)]);
  expect(service.output()).not.toContain('"stack"');
}

describe('a start that cannot succeed', () => {
  it('fails with one message that names every bad setting', async () => {
    const service = instance.spawn({ PORT: 'x', IMAGE_HOST: 'ftp' });
    expect(await service.exited).toBe(1);
    for (const name of ['PORT', 'IMAGE_HOST'])
      expect(service.output()).toMatch(new RegExp(`^ {2}${name} `, 'm'));
  });

  it('fails with one line if PORT or METRICS_PORT is in use, and leaves no embedded database running', async () => {
    const otherProgram = createServer().listen(instance.port, '127.0.0.1');
    await once(otherProgram, 'listening');
    const portInUse = String(instance.port);
    await expectStartFailure(
      instance.spawn(),
      `cannot listen on HOST 127.0.0.1 and PORT ${portInUse}: listen EADDRINUSE`,
    );
    const settings = {
      PORT: String(await findFreePort()),
      METRICS_PORT: portInUse,
      DATABASE_URL: database.url,
    };
    const metrics = `the metrics cannot be served on METRICS_HOST 127.0.0.1 and METRICS_PORT ${portInUse}:`;
    await expectStartFailure(instance.spawn(settings), `${metrics} listen EADDRINUSE`);
    otherProgram.close();
    expect(await findEmbeddedDatabaseUrl(instance.dataDir)).toBeUndefined();
  });

  it.each<[string, Record<string, string>, string]>([
    ['HOST is not local', { HOST: '192.0.2.1' }, 'cannot listen on HOST 192.0.2.1 and PORT '],
    ['HOST is unknown', { HOST: 'nowhere.invalid' }, 'cannot listen on HOST nowhere.invalid and PORT '],
    [
      'METRICS_HOST is not local',
      { METRICS_HOST: '192.0.2.1', METRICS_PORT: '9464' },
      'the metrics cannot be served on METRICS_HOST 192.0.2.1 and METRICS_PORT 9464',
    ],
    [
      'the certificate of DATABASE_URL is missing',
      { DATABASE_URL: 'postgresql://shop:secret-word@127.0.0.1/shop?sslrootcert=/none.pem' },
      'the database of DATABASE_URL (127.0.0.1/shop) cannot be used: ENOENT: no such file',
    ],
  ])('fails with one line and without retries if %s', async (_reason, settings, message) => {
    const service = instance.spawn({ DATABASE_URL: database.url, ...settings });
    await expectStartFailure(service, message);
    expect(service.output()).not.toMatch(/waiting for the database|secret-word/);
  });

  it('logs the warnings of production, and no security warning of the PostgreSQL driver for sslmode=require', async () => {
    const service = instance.spawn({
      NODE_ENV: 'production',
      PAYMENT_GATEWAY: 'midtrans',
      PUBLIC_URL: '',
      DATABASE_URL: 'postgresql://nowhere.invalid/shop?sslmode=require',
    });
    const reason = 'cannot be used: getaddrinfo ENOTFOUND nowhere.invalid';
    await expectStartFailure(service, `the database of DATABASE_URL (nowhere.invalid/shop) ${reason}`);
    const warnings = [...service.output().matchAll(/"level":"warn".*"msg":"(\w+) is unset: /g)];
    expect(warnings.map(([, name]) => name)).toEqual(['SMTP_URL', 'PUBLIC_URL', 'CORS_ORIGINS']);
    expect(service.output()).not.toContain('WARNING');
  });
});

it('npm run admin changes roles while the service runs, except for unverified addresses and the last administrator', async () => {
  const email = 'ayu@example.com';
  // The log names the local address even if the service has a public one.
  const service = await instance.start({ PUBLIC_URL: 'https://bakery.example' });
  expect(service.output()).toContain(
    `listening on 127.0.0.1 port ${instance.port}; API documentation at ${instance.url}/api/docs`,
  );
  const customer = new Client(instance.url);
  await customer.register({ email }).expect(201);
  const runAdmin = (exitCode: number, ...args: string[]) =>
    expectExit(exitCode, 'src/commands/admin.js', { DATA_DIR: instance.dataDir }, args);
  expect(await runAdmin(1, 'grant', email)).toContain('anybody may have registered it');
  await runAdmin(0, 'grant', 'AYU@example.com', '--unverified');
  expect(await runAdmin(0, 'list')).toContain(email);
  await customer.get('/api/refresh').expect(401); // A change of role ends all sessions.
  await runAdmin(0, 'revoke', ADMIN.email);
  await runAdmin(1, 'revoke', email); // of the last administrator
  await runAdmin(1, 'grant', 'stranger@example.com');
  expect(await stopProcess(service)).toBe(0);
});

it.each<[string, (output: string, dataDir: string) => boolean]>([
  ['starts', (_output, dataDir) => existsSync(join(dataDir, 'postgres-password'))],
  ['runs', (output) => output.includes('listening on')],
])(
  'a service that %s with an embedded database stops its database and prints no stack when Ctrl-C is pressed again and again',
  async (state, hasReached) => {
    const dataDir = join(root, state);
    // A process group of its own, like a job in a terminal: every process of the group gets the signal.
    const child = spawn(process.execPath, ['dist/src/main.js'], {
      env: { PATH: process.env.PATH, PORT: String(await findFreePort()), DATA_DIR: dataDir },
      detached: true,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const exited = once(child, 'close');
    await until('the service has got there', () => hasReached(output, dataDir));
    const pressing = setInterval(() => {
      try {
        process.kill(-(child.pid ?? 0), 'SIGINT');
      } catch {
        clearInterval(pressing); // The group has ended.
      }
    }, 20);
    const [code] = (await exited) as [number];
    clearInterval(pressing);
    expect({ code, output }).toMatchObject({ code: 0 });
    expect(output).not.toContain('did not stop in time');
    expect(output).not.toMatch(/^ +at /m);
    expect(await findServerPid(dataDir)).toBeUndefined();
  },
);

describe('a service whose database refuses connections', () => {
  it('stops within 2 seconds on SIGTERM', async () => {
    const service = instance.spawn({ DATABASE_URL: REFUSED_DATABASE });
    await until('the start waits', () => service.output().includes('waiting for the database'));
    const { result, runningMs } = await measureRunning(() => stopProcess(service));
    expect(result).toBe(0);
    expect(runningMs).toBeLessThan(2_000);
  });

  it('becomes ready when the database is back', async () => {
    const proxy = await DatabaseProxy.start(database.url);
    await proxy.down();
    const other = await ServiceInstance.create();
    const service = other.spawn({ DATABASE_URL: proxy.url });
    await until('the start waits', () => service.output().includes('waiting for the database'));
    await proxy.up();
    await waitUntilListening(service, other.url);
    await waitUntilReady(other.url);
  });

  it('retries for 60 seconds, logs a line every 5 seconds, and fails with one line', async () => {
    expect(await retryDurationMs).toBeGreaterThan(60_000);
    const reason =
      'the database of DATABASE_URL (127.0.0.1:9/shop) cannot be used: connect ECONNREFUSED 127.0.0.1:9';
    await expectStartFailure(retrying, reason);
    expect(retrying.output()).not.toContain('secret-word');
    const lineCount = retrying.output().split(`waiting for the database: ${reason}`).length - 1;
    expect(lineCount).toBeGreaterThanOrEqual(10);
    expect(lineCount).toBeLessThanOrEqual(13);
  });
});
