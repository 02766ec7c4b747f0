import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
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
import { gatewaySettings, orderOf } from '../support/orders.js';
import { png } from '../support/pictures.js';
import { type BuiltProcess, spawnBuilt } from '../support/process.js';
import { CAKE, form } from '../support/products.js';
import { sendRaw } from '../support/raw-http.js';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.js';
import { SmtpStandIn } from '../support/smtp-stand-in.js';
import { until } from '../support/wait.js';
import { dumpTables, readFolder, SecretFinder } from './secrets.finder.js';
import { record } from './support/figures.js';

const CODE = /(?<![\w.-])\d{6}(?![\w-])/;

const finder = new SecretFinder();
/** All that was written and may hold no secret, by where it stands. */
const written: [where: string, text: string][] = [];

/** Its characters look different in every encoding. */
function secret(name: string, kind: 'password' | 'key' = 'password'): string {
  const value =
    kind === 'key' ? `Key-${randomBytes(24).toString('hex')}` : `p"w ä/+%~${randomBytes(12).toString('hex')}`;
  finder.add(name, value);
  return value;
}

function keepCookies(whose: string, client: Client): void {
  for (const name of ['accessToken', 'refreshToken']) {
    const token = client.cookie(name);
    finder.add(`${name} of ${whose}`, token);
    finder.add(`signature of the ${name} of ${whose}`, token.split('.')[2] ?? '');
  }
}

/** Keeps what is answered. @returns the answer */
async function kept(status: number, test: Test): Promise<Response> {
  const answer = await test;
  const { 'set-cookie': _, ...headers } = answer.headers as Record<string, unknown>;
  written.push([`an answer of ${test.method} ${test.url}`, JSON.stringify(headers) + answer.text]);
  expect({ url: test.url, status: answer.status, text: answer.text }).toMatchObject({ status });
  return answer;
}

async function keepTables(when: string, { pool }: TestDatabase): Promise<void> {
  for (const [table, rows] of await dumpTables(pool)) written.push([`table ${table} ${when}`, rows]);
  const { rows } = await pool.query<{ text: string }>(
    `SELECT string_agg(query, E'\\n') AS text FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
  written.push([`statements ${when}`, rows[0]?.text ?? '']);
}

/** Of the process: what `ps` shows to every user of the machine. */
async function keepArguments({ child }: BuiltProcess): Promise<void> {
  for (const name of ['cmdline', 'comm'])
    written.push([
      `the process's ${name}`,
      await readFile(`/proc/${child.pid ?? 0}/${name}`, 'utf8').catch(() => ''),
    ]);
}

/** A command of the build beside the service; its output is kept. */
async function command(path: string, settings: Record<string, string>, args: string[]): Promise<string> {
  const run = spawnBuilt(path, settings, args);
  await run.exited;
  written.push([`the output of ${path} ${args.join(' ')}`, run.output()]);
  return run.output();
}

/** What goes wrong when callers send secrets in a way that cannot be read. */
async function sendBrokenSecrets(service: ServiceProcess): Promise<void> {
  const password = secret('password of a broken request');
  const client = service.client();
  const post = (body: string, type = 'application/json') =>
    client.post('/api/login').set('Content-Type', type).send(body);
  await kept(400, post(`{"email":"a@example.com","password":${JSON.stringify(password)}`));
  await kept(400, post(JSON.stringify({ email: 'a@example.com', password: { text: password } })));
  await kept(400, post(JSON.stringify({ email: password, password })));
  await kept(400, post(JSON.stringify({ email: 'a@example.com', password: password.repeat(40) })));
  await kept(400, post(JSON.stringify({ password }), 'text/plain'));
  await kept(415, post(JSON.stringify({ password }), 'application/json; charset=utf-99'));
  await kept(400, client.post(`/api/login?password=${encodeURIComponent(password)}`).send({ [password]: 1 }));
  await kept(413, post(JSON.stringify({ password, padding: 'x'.repeat(120_000) })));
  await kept(401, client.get('/api/users').set('Authorization', `Bearer ${encodeURIComponent(password)}`));
  await kept(400, service.client().setCookie('accessToken', encodeURIComponent(password)).get('/api/users'));
  await kept(
    401,
    service.client().setCookie('refreshToken', encodeURIComponent(password), '/').get('/api/refresh'),
  );
  const odd = `X-Secret ${password}`;
  for (const { body } of await sendRaw(service.url, `GET /api/users HTTP/1.1\r\nHost: a\r\n${odd}\r\n\r\n`))
    written.push(['an answer to broken HTTP', body]);
}

/** An account from its registration to its last change of password; its mails go through `codeOf`. */
async function liveAnAccount(
  service: ServiceProcess,
  codeOf: (email: string, nth: number) => Promise<string>,
): Promise<Client> {
  const email = `${randomUUID()}@example.com`;
  const passwords = Array.from({ length: 3 }, (_, n) => secret(`password ${n} of ${email}`));
  const [first = '', second = '', third = ''] = passwords;
  const client = service.client();
  const keep = (): void => {
    keepCookies(email, client);
  };
  const code = async (nth: number): Promise<string> => {
    const text = await codeOf(email, nth);
    finder.add(`code ${nth} of ${email}`, text);
    return text;
  };

  await kept(201, client.register({ email, password: first }));
  keep();
  await kept(409, service.client().register({ email, password: first }));
  await kept(
    400,
    service
      .client()
      .post('/api/login')
      .send({ email, password: secret('wrong password') }),
  );
  await kept(200, client.post('/api/login').send({ email, password: first }));
  keep();
  await kept(200, client.get('/api/refresh'));
  keep();
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
  keep();
  const change = { currentPassword: second, password: third, passwordConfirmation: third };
  await kept(400, client.put('/api/users/password').send({ ...change, currentPassword: first }));
  await kept(204, client.put('/api/users/password').send(change));
  keep();
  return client;
}

/** @throws Error that names every secret which was found, by its name and not by its value */
function expectNothingFound(): void {
  expect(written.flatMap(([where, text]) => finder.find(where, text))).toEqual([]);
}

describe('secrets stay where they belong', () => {
  const databases: TestDatabase[] = [];
  const folders: string[] = [];

  afterAll(async () => {
    for (const database of databases) await database.drop();
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  });

  async function newDatabase(): Promise<TestDatabase> {
    const database = await createDatabase();
    databases.push(database);
    return database;
  }

  async function newFolder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'bakery-secrets-'));
    folders.push(folder);
    return folder;
  }

  it('no secret is in the log at level trace, in a table, an answer, a file or the arguments, whatever fails', async () => {
    const database = await newDatabase();
    finder.add('password of the database', new URL(database.url).password);
    const proxy = await DatabaseProxy.start(database.url);
    const databaseUrl = new URL(proxy.url);
    const cloudinary = await CloudinaryStandIn.start({
      apiKey: secret('key of Cloudinary', 'key'),
      apiSecret: secret('secret of Cloudinary', 'key'),
    });
    const gateway = await MidtransStandIn.start({ serverKey: secret('server key', 'key') });
    const smtp = await SmtpStandIn.start();
    const smtpUrl = new URL(smtp.url);
    smtpUrl.username = 'mailer';
    smtpUrl.password = secret('password of the mail server', 'key');
    const admin = { email: 'owner@example.com', password: secret('password of the administrator') };
    const dataDir = await newFolder();
    const settings = {
      ...gatewaySettings(gateway),
      DATABASE_URL: databaseUrl.href,
      DATA_DIR: dataDir,
      LOG_LEVEL: 'trace',
      CLOUDINARY_URL: cloudinary.url,
      SMTP_URL: smtpUrl.href,
      JWT_ACCESS_SECRET: secret('JWT_ACCESS_SECRET', 'key'),
      JWT_REFRESH_SECRET: secret('JWT_REFRESH_SECRET', 'key'),
      ADMIN_EMAIL: admin.email,
      ADMIN_PASSWORD: admin.password,
    };
    const service = await startServiceProcess(settings);
    try {
      await keepArguments(service);
      const customer = await liveAnAccount(service, async (email, nth) => {
        await until('the mail', () => smtp.mails.filter(({ to }) => to.includes(email)).length > nth);
        return CODE.exec(smtp.mails.filter(({ to }) => to.includes(email))[nth]?.text ?? '')?.[0] ?? '';
      });
      await sendBrokenSecrets(service);

      const boss = service.client();
      await kept(200, boss.post('/api/login').send(admin));
      keepCookies('the administrator', boss);
      const create = () => form(boss.post('/api/products'), CAKE, [{ name: 'kue.png', bytes: png() }]);
      const made = await kept(201, create());
      const { id } = (made.body as { data: { products: { id: number } } }).data.products;
      for (const kind of ['error', 'cut', 'garbage'] as const) {
        cloudinary.fault({ operation: 'upload', kind });
        await kept(500, create());
        cloudinary.clearFaults();
      }

      const buy = () => customer.post('/api/orders').send({ items: [{ product_id: id, quantity: 1 }] });
      const orderId = orderOf({ body: (await kept(201, buy())).body as unknown }).order_id;
      for (const kind of ['down', 'error', 'garbage', 'cut'] as const) {
        gateway.fault({ operation: 'create', kind });
        await kept(502, buy());
        gateway.clearFaults();
      }
      gateway.fault({
        operation: 'create',
        kind: 'answer',
        status: 401,
        body: { error_messages: ['denied'] },
      });
      await kept(502, buy());
      gateway.clearFaults();
      gateway.settle(orderId);
      const notification = gateway.notification(orderId);
      await kept(200, service.client().post('/api/products/payments').send(notification));
      await kept(
        403,
        service
          .client()
          .post('/api/products/payments')
          .send({ ...notification, status_code: '201' }),
      );
      await kept(200, boss.get(`/api/admin/orders/${orderId}`));

      // Mails that fail, wait and die, and leave after all.
      const unknown = `${randomUUID()}@example.com`;
      smtp.rejectRecipient(unknown);
      await kept(201, service.client().register({ email: unknown, password: secret('password of nobody') }));
      await until('a dead job', async () =>
        (await jobRows(database.pool, 'send-otp')).some(
          ({ attempts, max_attempts: most }) => attempts >= most,
        ),
      );
      await smtp.down();
      const late = `${randomUUID()}@example.com`;
      await kept(
        201,
        service.client().register({ email: late, password: secret('password of a late mail') }),
      );
      await until(
        'a failed try',
        async () =>
          (await jobRows(database.pool, 'send-otp')).filter(({ last_error }) => last_error !== null)
            .length === 2,
      );
      await keepTables('with failed jobs', database);
      const listed = await command('src/commands/jobs.js', settings, ['list']);
      expect(listed).toMatch(/\tdead\tsend-otp\t/);
      expect(listed).not.toContain(unknown);
      await smtp.up();
      await makeJobsDue(database.pool);
      const { text } = await smtp.waitForMail(({ to }) => to.includes(late));
      finder.add(`code of ${late}`, CODE.exec(text)?.[0] ?? '');
      expect(await command('src/commands/admin.js', settings, ['grant', late])).not.toBe('');

      // A database that is away, one that does not know its tables, and one that does not know us.
      await proxy.down();
      const lost = secret('password of a registration without database');
      await kept(503, service.client().register({ email: 'lost@example.com', password: lost }));
      await kept(503, service.client().post('/api/login').send(admin));
      expect(await command('src/commands/jobs.js', settings, ['list'])).not.toBe('');
      await proxy.up();
      await until('it is ready again', async () => (await fetch(`${service.url}/api/health/ready`)).ok);
      await database.pool.query('ALTER TABLE users RENAME TO users_away');
      await kept(500, service.client().register({ email: 'lost@example.com', password: lost }));
      await kept(500, service.client().post('/api/login').send(admin));
      await database.pool.query('ALTER TABLE users_away RENAME TO users');
      const denied = new URL(databaseUrl);
      denied.password = secret('wrong password of the database', 'key');
      expect(
        await command('src/commands/jobs.js', { ...settings, DATABASE_URL: denied.href }, ['list']),
      ).toContain('refuses this user or password');

      await kept(200, service.client().get('/api/docs-json'));
      await kept(204, boss.post('/api/logout'));
      await keepTables('at the end', database);
    } finally {
      await service.stop();
      await proxy.down();
      await Promise.all([cloudinary.close(), gateway.close(), smtp.close()]);
    }
    written.push(['the log', service.output()]);
    expect(service.output()).toMatch(/"level":"error".*dead job/);
    const { paths, contents } = await readFolder(dataDir);
    written.push(['names of files', paths.join('\n')], ...contents);
    expectNothingFound();
  });

  it('no secret leaks with the outbox, generated keys, local images and the simulator', async () => {
    const database = await newDatabase();
    const dataDir = await newFolder();
    const service = await startServiceProcess({
      DATABASE_URL: database.url,
      DATA_DIR: dataDir,
      JWT_ACCESS_SECRET: '',
      JWT_REFRESH_SECRET: '',
      MIDTRANS_SERVER_KEY: secret('server key of the simulator', 'key'),
      ADMIN_PASSWORD: secret('password of the second administrator'),
    });
    const outbox = join(dataDir, 'outbox');
    const names = () =>
      readdir(outbox).then(
        (found) => found.filter((name) => name.endsWith('.eml')).sort(),
        () => [],
      );
    try {
      await liveAnAccount(service, async (_email, nth) => {
        const found = await until('the mail', async () => {
          const mails = await names();
          return mails.length > nth && mails;
        });
        const mail = await readFile(join(outbox, found[nth] ?? ''), 'utf8');
        return CODE.exec((await PostalMime.parse(mail)).text ?? '')?.[0] ?? '';
      });
      await sendBrokenSecrets(service);
      await keepTables('of the second service', database);
      await keepArguments(service);
    } finally {
      await service.stop();
    }
    written.push(['the second log', service.output()]);
    const { paths, contents } = await readFolder(dataDir);
    const keys = [...contents].filter(([, text]) => /accessSecret|jwtAccessSecret|JWT_ACCESS/i.test(text));
    expect(keys).toHaveLength(1);
    for (const [, text] of keys) {
      for (const [key] of text.matchAll(/[\w+/=-]{40,}/g)) finder.add('a generated key', key);
    }
    written.push(['names of files of the second service', paths.join('\n')]);
    for (const [path, text] of contents) {
      if (!path.startsWith(outbox) && !keys.some(([of]) => of === path)) written.push([path, text]);
    }
    expectNothingFound();
  });

  it('a setting that is refused is named and not shown', async () => {
    const of = (name: string): string => secret(`refused ${name}`, 'key');
    const short = randomBytes(10).toString('hex');
    finder.add('refused JWT_ACCESS_SECRET', short);
    const output = await command(
      'src/main.js',
      {
        NODE_ENV: 'production',
        DATA_DIR: await newFolder(),
        DATABASE_URL: `mysql://bakery:${of('DATABASE_URL')}@127.0.0.1/x`,
        SMTP_URL: `http://mailer:${of('SMTP_URL')}@127.0.0.1`,
        CLOUDINARY_URL: `cloudinary://${of('CLOUDINARY_URL')}@`,
        JWT_ACCESS_SECRET: short,
        ADMIN_PASSWORD: of('ADMIN_PASSWORD'),
        MIDTRANS_SERVER_KEY: of('MIDTRANS_SERVER_KEY'),
        PAYMENT_GATEWAY: 'simulator',
      },
      [],
    );
    for (const name of ['DATABASE_URL', 'SMTP_URL', 'CLOUDINARY_URL', 'JWT_ACCESS_SECRET', 'ADMIN_EMAIL'])
      expect(output).toContain(name);
    expectNothingFound();
  });

  it('the search finds every kind of secret in every encoding, where it was planted', async () => {
    const password = secret('a planted password');
    const key = secret('a planted key', 'key');
    finder.add('a planted code', '048613');
    const planted = {
      log: `{"msg":${JSON.stringify(`login failed for ${password}`)}}`,
      'escaped log': JSON.stringify({ msg: JSON.stringify({ password }) }),
      query: `/x?password=${encodeURIComponent(password)}&y`,
      form: new URLSearchParams({ password }).toString(),
      header: `Basic ${Buffer.from(`ab:${key}:`).toString('base64')}`,
      token: Buffer.from(JSON.stringify({ a: 1, password: key })).toString('base64url'),
      bytes: Buffer.from(`x${key}y`).toString('hex').toUpperCase(),
      code: 'your code is 048613.'.replace('.', ' '),
    };
    expect(Object.entries(planted).filter(([where, text]) => finder.find(where, text).length === 0)).toEqual(
      [],
    );
    expect(finder.find('a time', '2026-11-20T10:05:12.048613+00')).toEqual([]);

    const database = await newDatabase();
    await database.pool.query('CREATE SCHEMA planted CREATE TABLE kept (id int, value bytea, data jsonb)');
    await database.pool.query('INSERT INTO planted.kept VALUES (1, $1, $2)', [
      Buffer.from(key),
      { deep: [password] },
    ]);
    const rows = (await dumpTables(database.pool)).get('planted.kept') ?? '';
    expect(finder.find('a table', rows)).toEqual([
      expect.stringContaining('a planted password'),
      expect.stringContaining('a planted key'),
    ]);
    record('secrets', { 'secrets looked for': finder.size, 'places searched': written.length });
  });
});
