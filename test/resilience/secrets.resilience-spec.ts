import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import type { Response, Test } from 'supertest';
import type { Client } from '../support/client.js';
import { CloudinaryStandIn } from '../support/cloudinary-stand-in.js';
import { DatabaseProxy } from '../support/database-proxy.js';
import { createDatabase, type TestDatabase } from '../support/databases.js';
import { jobRows, makeJobsDue } from '../support/jobs.js';
import { MidtransStandIn } from '../support/midtrans-stand-in.js';
import { NOTIFICATIONS_PATH } from '../support/notifications.js';
import { gatewaySettings, order, orderOf } from '../support/orders.js';
import { png } from '../support/pictures.js';
import { spawnBuilt } from '../support/process.js';
import { CAKE, form, productOf } from '../support/products.js';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.js';
import { SmtpStandIn } from '../support/smtp-stand-in.js';
import { until } from '../support/wait.js';
import { dumpDatabase, readFolder, SecretFinder } from './secrets.finder.js';

const CODE = /(?<![\w.-])\d{6}(?![\w-])/;

let finder: SecretFinder;
/** All that was written and may hold no secret, by where it stands. */
let written: [where: string, text: string][];
let database: TestDatabase;
let dataDir: string;

beforeEach(async () => {
  finder = new SecretFinder();
  written = [];
  database = await createDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'bakery-secrets-'));
});

afterEach(async () => {
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

/** Its characters look different in every encoding. */
function password(name: string): string {
  const value = `p"w ä/+%~${randomBytes(12).toString('hex')}`;
  finder.add(`password ${name}`, value);
  return value;
}

function key(name: string): string {
  const value = `Key-${randomBytes(24).toString('hex')}`;
  finder.add(name, value);
  return value;
}

/** Sends a request and keeps its answer, cookies aside: those are secrets from now on. */
async function kept(status: number, test: Test): Promise<Response> {
  const answer = await test;
  const { 'set-cookie': cookies, ...headers } = answer.headers as Record<string, unknown>;
  for (const cookie of [cookies ?? []].flat().map(String)) {
    const [, token = ''] = /^\w+=([^;]+)/.exec(cookie) ?? [];
    if (token === '') continue;
    finder.add('a token', token);
    finder.add('the signature of a token', token.split('.')[2] ?? '');
  }
  written.push([`an answer of ${test.method} ${test.url}`, JSON.stringify(headers) + answer.text]);
  expect({ url: test.url, status: answer.status, text: answer.text }).toMatchObject({ status });
  return answer;
}

/** What `ps` shows to every user of the machine. */
async function keepArguments({ child }: ServiceProcess): Promise<void> {
  const text = await readFile(`/proc/${child.pid ?? 0}/cmdline`, 'utf8').catch(() => '');
  written.push(["the process's arguments", text]);
}

/** A command of the build; its output is kept. */
async function command(path: string, settings: Record<string, string>, ...args: string[]): Promise<string> {
  const run = spawnBuilt(path, settings, args);
  await run.exited;
  written.push([`the output of ${path}`, run.output()]);
  return run.output();
}

/** What goes wrong when callers send secrets in a way that cannot be read. */
async function sendBrokenSecrets(service: ServiceProcess): Promise<void> {
  const secret = password('of a broken request');
  const inUrl = encodeURIComponent(secret);
  const client = service.client();
  const email = 'a@example.com';
  const post = (body: string, type = 'application/json') =>
    client.post('/api/login').set('Content-Type', type).send(body);
  await kept(400, post(`{"email":"${email}","password":${JSON.stringify(secret)}`));
  await kept(400, post(JSON.stringify({ email, password: { text: secret } })));
  await kept(400, post(JSON.stringify({ email: secret, password: secret.repeat(40) })));
  await kept(415, post(JSON.stringify({ secret }), 'application/json; charset=utf-99'));
  await kept(400, client.post(`/api/login?password=${inUrl}`).send({ [secret]: 1 }));
  await kept(413, post(JSON.stringify({ secret, padding: 'x'.repeat(120_000) })));
  await kept(401, client.get('/api/users').set('Authorization', `Bearer ${inUrl}`));
  await kept(400, service.client().setCookie('accessToken', inUrl).get('/api/users'));
  await kept(401, service.client().setCookie('refreshToken', inUrl).get('/api/refresh'));
}

/** An account from its registration to its last change of password. @param textOf the nth mail to it */
async function liveAnAccount(
  service: ServiceProcess,
  textOf: (email: string, nth: number) => Promise<string | undefined>,
): Promise<Client> {
  const email = `${randomUUID()}@example.com`;
  const [first, second, third] = [password('one'), password('two'), password('three')];
  const client = service.client();
  const code = async (nth: number): Promise<string> => {
    const text = await until(`mail ${nth}`, () => textOf(email, nth));
    const otp = CODE.exec(text)?.[0] ?? '';
    finder.add(`code ${nth}`, otp);
    // The search finds what is there.
    expect(finder.find('the mail', text)).toContain(`code ${nth} (plain) in the mail`);
    return otp;
  };

  await kept(201, client.register({ email, password: first }));
  await kept(409, service.client().register({ email, password: first }));
  await kept(
    400,
    service
      .client()
      .post('/api/login')
      .send({ email, password: password('that is wrong') }),
  );
  await kept(200, client.post('/api/login').send({ email, password: first }));
  await kept(200, client.get('/api/refresh'));
  const otp = await code(0);
  const wrong = ((Number(otp) + 1) % 1_000_000).toString().padStart(6, '0');
  await kept(400, client.post('/api/otp/verify').send({ otp: wrong }));
  await kept(200, client.post('/api/otp/verify').send({ otp }));
  await kept(204, service.client().post('/api/password/forgot').send({ email }));
  const reset = { email, otp: await code(1), password: second, passwordConfirmation: second };
  await kept(
    400,
    service
      .client()
      .post('/api/password/reset')
      .send({ ...reset, otp: wrong }),
  );
  await kept(204, service.client().post('/api/password/reset').send(reset));
  await kept(200, client.post('/api/login').send({ email, password: second }));
  await kept(200, client.patch('/api/users').send({ fullname: 'Ayu W.', password: second }));
  const change = { currentPassword: second, password: third, passwordConfirmation: third };
  await kept(400, client.put('/api/users/password').send({ ...change, currentPassword: first }));
  await kept(204, client.put('/api/users/password').send(change));
  return client;
}

function expectNothingFound(): void {
  expect(written.flatMap(([where, text]) => finder.find(where, text))).toEqual([]);
}

it('no secret is in the log at level trace, in a table, an answer, a file or the arguments, also when something fails', async () => {
  finder.add('the password of the database', new URL(database.url).password);
  const proxy = await DatabaseProxy.start(database.url);
  const cloudinary = await CloudinaryStandIn.start({
    apiKey: key('Cloudinary key'),
    apiSecret: key('its secret'),
  });
  const gateway = await MidtransStandIn.start({ serverKey: key('server key') });
  const smtp = await SmtpStandIn.start();
  const admin = { email: 'owner@example.com', password: password('of the administrator') };
  const settings = {
    ...gatewaySettings(gateway),
    DATABASE_URL: proxy.url,
    DATA_DIR: dataDir,
    LOG_LEVEL: 'trace',
    CLOUDINARY_URL: cloudinary.url,
    SMTP_URL: smtp.url.replace('//', `//mailer:${key('password of the mail server')}@`),
    JWT_ACCESS_SECRET: key('JWT_ACCESS_SECRET'),
    JWT_REFRESH_SECRET: key('JWT_REFRESH_SECRET'),
    ADMIN_EMAIL: admin.email,
    ADMIN_PASSWORD: admin.password,
  };
  const service = await startServiceProcess(settings);
  const register = (email: string) => service.client().register({ email, password: password(`of ${email}`) });
  const mailsTo = (email: string) => smtp.mails.filter(({ to }) => to.includes(email));
  try {
    await keepArguments(service);
    const customer = await liveAnAccount(service, (email, nth) => Promise.resolve(mailsTo(email)[nth]?.text));
    await sendBrokenSecrets(service);

    // An image host and a gateway that fail.
    const boss = service.client();
    await kept(200, boss.post('/api/login').send(admin));
    const create = () => form(boss.post('/api/products'), CAKE, [{ name: 'kue.png', bytes: png() }]);
    const { id } = productOf(await kept(201, create()));
    for (const kind of ['error', 'down', 'garbage'] as const) {
      cloudinary.fault({ operation: 'upload', kind });
      await kept(500, create());
      cloudinary.clearFaults();
    }
    const buy = () => order(customer, [{ product_id: id, quantity: 1 }]);
    const orderId = orderOf(await kept(201, buy())).order_id;
    for (const kind of ['down', 'error', 'garbage', 'cut'] as const) {
      gateway.fault({ operation: 'create', kind });
      await kept(502, buy());
      gateway.clearFaults();
    }
    gateway.settle(orderId);
    const notify = (body: object) => service.client().post(NOTIFICATIONS_PATH).send(body);
    await kept(200, notify(gateway.notification(orderId)));
    await kept(403, notify({ ...gateway.notification(orderId), status_code: '201' }));
    await kept(200, boss.get(`/api/admin/orders/${orderId}`));

    // Mails that fail, wait and die, and leave after all.
    smtp.rejectRecipient('unknown@example.com');
    await kept(201, register('unknown@example.com'));
    const mailJobs = () => jobRows(database.pool, 'send-otp');
    await until('a dead job', async () =>
      (await mailJobs()).some(({ attempts, max_attempts: most }) => attempts >= most),
    );
    await smtp.down();
    await kept(201, register('late@example.com'));
    await until(
      'a failed try',
      async () => (await mailJobs()).filter(({ last_error }) => last_error !== null).length === 2,
    );
    written.push(...(await dumpDatabase(database.pool)));
    const listed = await command('src/commands/jobs.js', settings, 'list');
    expect(listed).toMatch(/\tdead\tsend-otp\t/);
    expect(listed).not.toContain('unknown@example.com');
    await smtp.up();
    await makeJobsDue(database.pool);
    const { text } = await smtp.waitForMail(({ to }) => to.includes('late@example.com'));
    finder.add('code of a late mail', CODE.exec(text)?.[0] ?? '');
    expect(await command('src/commands/admin.js', settings, 'grant', 'late@example.com')).not.toBe('');

    // A database that is away, one that does not know its tables, and one that does not know us.
    await proxy.down();
    await kept(503, register('lost@example.com'));
    await kept(503, service.client().post('/api/login').send(admin));
    await proxy.up();
    await until('it is ready again', async () => (await fetch(`${service.url}/api/health/ready`)).ok);
    await database.pool.query('ALTER TABLE users RENAME TO users_away');
    await kept(500, register('lost@example.com'));
    await kept(500, service.client().post('/api/login').send(admin));
    await database.pool.query('ALTER TABLE users_away RENAME TO users');
    const denied = Object.assign(new URL(proxy.url), { password: key('wrong password of the database') });
    const refused = await command('src/commands/jobs.js', { ...settings, DATABASE_URL: denied.href }, 'list');
    expect(refused).toContain('refuses this user or password');
    await kept(204, boss.post('/api/logout'));
    written.push(...(await dumpDatabase(database.pool)));
  } finally {
    await service.stop();
    await proxy.down();
    await Promise.all([cloudinary.close(), gateway.close(), smtp.close()]);
  }
  written.push(['the log', service.output()], ...(await readFolder(dataDir)));
  expect(service.output()).toMatch(/"level":"error".*dead job/);
  expectNothingFound();
});

it('no secret leaks with the outbox, generated keys, local images and the simulator', async () => {
  const service = await startServiceProcess({
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    JWT_ACCESS_SECRET: '',
    JWT_REFRESH_SECRET: '',
    MIDTRANS_SERVER_KEY: key('server key of the simulator'),
    ADMIN_PASSWORD: password('of the second administrator'),
  });
  const isMail = ([path]: readonly [string, string]) => path.endsWith('.eml');
  try {
    await liveAnAccount(service, async (_email, nth) => {
      const mails = (await readFolder(dataDir))
        .filter(isMail)
        .map(([path]) => path)
        .toSorted();
      const { [nth]: path } = mails;
      return path === undefined ? undefined : (await PostalMime.parse(await readFile(path))).text;
    });
    await sendBrokenSecrets(service);
    written.push(...(await dumpDatabase(database.pool)));
    await keepArguments(service);
  } finally {
    await service.stop();
  }
  const files = (await readFolder(dataDir)).filter((file) => !isMail(file));
  // The one file that may hold the generated keys.
  const keys = files.filter(([, text]) => /accessSecret|jwtAccessSecret|JWT_ACCESS/i.test(text));
  expect(keys).toHaveLength(1);
  for (const [generated] of (keys[0]?.[1] ?? '').matchAll(/[\w+/=-]{40,}/g))
    finder.add('a generated key', generated);
  written.push(['the log', service.output()], ...files.filter((file) => !keys.includes(file)));
  expectNothingFound();
});

it('a setting that is refused is named and not shown', async () => {
  const short = randomBytes(10).toString('hex');
  finder.add('refused JWT_ACCESS_SECRET', short);
  const output = await command('src/main.js', {
    NODE_ENV: 'production',
    DATA_DIR: dataDir,
    DATABASE_URL: `mysql://bakery:${key('refused DATABASE_URL')}@127.0.0.1/x`,
    SMTP_URL: `http://mailer:${key('refused SMTP_URL')}@127.0.0.1`,
    CLOUDINARY_URL: `cloudinary://${key('refused CLOUDINARY_URL')}@`,
    JWT_ACCESS_SECRET: short,
    ADMIN_PASSWORD: key('refused ADMIN_PASSWORD'),
    MIDTRANS_SERVER_KEY: key('refused MIDTRANS_SERVER_KEY'),
    PAYMENT_GATEWAY: 'simulator',
  });
  for (const name of ['DATABASE_URL', 'SMTP_URL', 'CLOUDINARY_URL', 'JWT_ACCESS_SECRET', 'ADMIN_EMAIL'])
    expect(output).toContain(name);
  expectNothingFound();
});
