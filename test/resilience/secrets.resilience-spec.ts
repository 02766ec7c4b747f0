import { randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Response, Test } from 'supertest';
import { listWrongCodes } from '../support/accounts.js';
import type { Client } from '../support/client.js';
import { DatabaseProxy } from '../support/database-proxy.js';
import { createDatabase } from '../support/databases.js';
import { nullIfMissing } from '../support/files.js';
import { makeJobsDue, readJobs } from '../support/jobs.js';
import { findCode } from '../support/mail.js';
import { NOTIFICATIONS_PATH } from '../support/notifications.js';
import { orderOf, requestOrder } from '../support/orders.js';
import { createPng } from '../support/pictures.js';
import { runBuilt, useFolder, waitUntilReady } from '../support/process.js';
import { CAKE, sendForm, productOf } from '../support/products.js';
import { type ServiceProcess, useServiceProcess } from '../support/service-process.js';
import type { SmtpStandIn } from '../support/smtp-stand-in.js';
import { until } from '../support/wait.js';
import { SecretFinder } from './secrets.finder.js';
import { dumpDatabase, readFolder } from './secrets.sources.js';
import { startExternalServices } from './support/external-services.js';

const database = await createDatabase();
const folder = await useFolder('bakery-secrets-');
const finder = new SecretFinder();
finder.add('a password hash', '$argon2id$v=19$'); // `dumpDatabase` omits the column `password_hash`.
/** Recorded output that must not contain a secret: its source and its text. */
const records: [where: string, text: string][] = [];

/** Creates a password that the finder looks for. JSON, URLs and HTML escape the password in different ways. */
function createPassword(name: string): string {
  const value = `p"w ä/+%~${randomBytes(12).toString('hex')}`;
  finder.add(`password ${name}`, value);
  return value;
}

function createKey(name: string): string {
  const value = `Key-${randomBytes(24).toString('hex')}`;
  finder.add(name, value);
  return value;
}

/** Sends a request and records the response without its cookies. The finder then also looks for the tokens of these cookies. */
async function sendAndRecord(expectedStatus: number, test: Test): Promise<Response> {
  const response = await test;
  const { 'set-cookie': cookies, ...headers } = response.headers as Record<string, unknown>;
  for (const cookie of [cookies ?? []].flat().map(String)) {
    const [, token = ''] = /^\w+=([^;]+)/.exec(cookie) ?? [];
    if (token === '') continue;
    finder.add('a token', token);
    finder.add('the signature of a token', token.split('.')[2] ?? '');
  }
  records.push([`the response to ${test.method} ${test.url}`, JSON.stringify(headers) + response.text]);
  const { status, text } = response;
  expect({ url: test.url, status, text }).toMatchObject({ status: expectedStatus });
  return response;
}

/** Records the command line of the service, because `ps` shows it to every user of the machine. */
async function recordArguments({ child }: ServiceProcess): Promise<void> {
  const text = await nullIfMissing(readFile(`/proc/${child.pid ?? 0}/cmdline`, 'utf8')); // Only Linux has /proc.
  if (text !== null) records.push(["the process's arguments", text]);
}

/** Runs a command of the built service and records its output. Returns the output. */
async function runCommand(path: string, settings: Record<string, string>, ...args: string[]) {
  const { output } = await runBuilt(path, settings, args);
  records.push([`the output of ${path}`, output]);
  return output;
}

/** Sends secrets in requests that the service rejects as malformed, invalid, too large or unauthenticated. */
async function sendSecretsInRejectedRequests(service: ServiceProcess): Promise<void> {
  const secret = createPassword('of a rejected request');
  const inUrl = encodeURIComponent(secret);
  const client = service.client();
  const email = 'a@example.com';
  const post = (body: string, type = 'application/json') =>
    client.post('/api/login').set('Content-Type', type).send(body);
  await sendAndRecord(400, post(`{"email":"${email}","password":${JSON.stringify(secret)}`));
  await sendAndRecord(400, post(JSON.stringify({ email, password: { text: secret } })));
  await sendAndRecord(400, post(JSON.stringify({ email: secret, password: secret.repeat(40) })));
  await sendAndRecord(415, post(JSON.stringify({ secret }), 'application/json; charset=utf-99'));
  await sendAndRecord(400, client.post(`/api/login?password=${inUrl}`).send({ [secret]: 1 }));
  await sendAndRecord(413, post(JSON.stringify({ secret, padding: 'x'.repeat(120_000) })));
  await sendAndRecord(401, client.get('/api/users').set('Authorization', `Bearer ${inUrl}`));
  await sendAndRecord(400, service.client().setCookie('accessToken', inUrl).get('/api/users'));
  await sendAndRecord(401, service.client().setCookie('refreshToken', inUrl).get('/api/refresh'));
}

/** Registers an account and performs steps that involve a password, a code or a token. Returns the client that is logged in. */
async function useAccount(service: ServiceProcess, smtp: SmtpStandIn): Promise<Client> {
  const email = `${randomUUID()}@example.com`;
  const [first, second, third] = [createPassword('one'), createPassword('two'), createPassword('three')];
  const client = service.client();
  const readCode = async (nth: number): Promise<string> => {
    const { text } = await until(`mail ${nth}`, () => smtp.mails.filter(({ to }) => to.includes(email))[nth]);
    const otp = findCode(text);
    finder.add(`code ${nth}`, otp);
    // Verify that the finder recognizes the code. Otherwise the test could not fail.
    expect(finder.find('the mail', text)).toContain(`code ${nth} (plain) in the mail`);
    return otp;
  };

  await sendAndRecord(201, client.register({ email, password: first }));
  await sendAndRecord(409, service.client().register({ email, password: first }));
  const wrongLogin = { email, password: createPassword('that is wrong') };
  await sendAndRecord(400, service.client().post('/api/login').send(wrongLogin));
  await sendAndRecord(200, client.post('/api/login').send({ email, password: first }));
  await sendAndRecord(200, client.get('/api/refresh'));
  const otp = await readCode(0);
  const [wrong] = listWrongCodes(otp, 1);
  await sendAndRecord(400, client.post('/api/otp/verify').send({ otp: wrong }));
  await sendAndRecord(200, client.post('/api/otp/verify').send({ otp }));
  await sendAndRecord(204, service.client().post('/api/password/forgot').send({ email }));
  const reset = { email, otp: await readCode(1), password: second, passwordConfirmation: second };
  const sendReset = (body: object) => service.client().post('/api/password/reset').send(body);
  await sendAndRecord(400, sendReset({ ...reset, otp: wrong }));
  await sendAndRecord(204, sendReset(reset));
  await sendAndRecord(200, client.post('/api/login').send({ email, password: second }));
  await sendAndRecord(200, client.patch('/api/users').send({ fullname: 'Ayu W.', password: second }));
  const change = { currentPassword: second, password: third, passwordConfirmation: third };
  await sendAndRecord(400, client.put('/api/users/password').send({ ...change, currentPassword: first }));
  await sendAndRecord(204, client.put('/api/users/password').send(change));
  return client;
}

it('logs, tables, responses, files, process arguments and the output of commands contain no secret, even after failures', async () => {
  finder.add('the password of the database', new URL(database.url).password);
  const proxy = await DatabaseProxy.start(database.url);
  const external = await startExternalServices();
  const { cloudinary, gateway, smtp } = external;
  const { username: apiKey, password: apiSecret } = new URL(cloudinary.url);
  finder.add('Cloudinary key', apiKey);
  finder.add('Cloudinary secret', apiSecret);
  finder.add('server key', gateway.serverKey);
  const admin = { email: 'owner@example.com', password: createPassword('of the administrator') };
  const settings = {
    ...external.settings,
    DATABASE_URL: proxy.url,
    DATA_DIR: folder,
    LOG_LEVEL: 'trace',
    SMTP_URL: smtp.url.replace('//', `//mailer:${createKey('password of the mail server')}@`),
    JWT_ACCESS_SECRET: '',
    JWT_REFRESH_SECRET: '', // The service generates both keys, and may store them only in one file.
    ADMIN_EMAIL: admin.email,
    ADMIN_PASSWORD: admin.password,
  };
  const service = await useServiceProcess(settings);
  const register = (email: string) =>
    service.client().register({ email, password: createPassword(`of ${email}`) });
  await recordArguments(service);
  const customer = await useAccount(service, smtp);
  await sendSecretsInRejectedRequests(service);

  // The image host and the gateway fail.
  const adminClient = service.client();
  await sendAndRecord(200, adminClient.post('/api/login').send(admin));
  const create = () =>
    sendForm(adminClient.post('/api/products'), CAKE, [{ name: 'kue.png', bytes: createPng() }]);
  const { id } = productOf(await sendAndRecord(201, create()));
  for (const kind of ['error', 'disconnect', 'garbage'] as const) {
    cloudinary.addFault({ operation: 'upload', kind });
    await sendAndRecord(500, create());
    cloudinary.clearFaults();
  }
  const buy = () => requestOrder(customer, [{ product_id: id, quantity: 1 }]);
  const orderId = orderOf(await sendAndRecord(201, buy())).order_id;
  for (const kind of ['disconnect', 'error', 'garbage'] as const) {
    gateway.addFault({ operation: 'create', kind });
    await sendAndRecord(502, buy());
    gateway.clearFaults();
  }
  gateway.settle(orderId);
  const notify = (body: object) => service.client().post(NOTIFICATIONS_PATH).send(body);
  await sendAndRecord(200, notify(gateway.notification(orderId)));
  await sendAndRecord(403, notify({ ...gateway.notification(orderId), status_code: '201' }));
  await sendAndRecord(200, adminClient.get(`/api/admin/orders/${orderId}`));

  // The job of one mail becomes dead. The job of another mail fails at first, and a retry sends the mail.
  smtp.rejectedRecipients.add('unknown@example.com');
  await sendAndRecord(201, register('unknown@example.com'));
  const mailJobs = () => readJobs(database.pool, 'send-otp');
  await until('the mail to an unknown recipient is a dead job', async () =>
    (await mailJobs()).some(({ attempts, max_attempts: maximum }) => attempts >= maximum),
  );
  await smtp.down();
  await sendAndRecord(201, register('late@example.com'));
  await until(
    'the job of the late mail has failed too',
    async () => (await mailJobs()).filter(({ last_error }) => last_error !== null).length === 2,
  );
  records.push(...(await dumpDatabase(database.pool)));
  const listed = await runCommand('src/commands/jobs.js', settings, 'list');
  expect(listed).toMatch(/\tdead\tsend-otp\t/);
  await smtp.up();
  await makeJobsDue(database.pool);
  const { text } = await smtp.waitForMail(({ to }) => to.includes('late@example.com'));
  finder.add('code of a late mail', findCode(text));
  expect(await runCommand('src/commands/admin.js', settings, 'grant', 'late@example.com')).not.toBe('');

  // The database is unavailable, then lacks a table, then rejects a wrong password.
  await proxy.down();
  await sendAndRecord(503, register('lost@example.com'));
  await sendAndRecord(503, service.client().post('/api/login').send(admin));
  await proxy.up();
  await waitUntilReady(service.url);
  await database.query('ALTER TABLE users RENAME TO users_renamed');
  await sendAndRecord(500, register('lost@example.com'));
  await sendAndRecord(500, service.client().post('/api/login').send(admin));
  await database.query('ALTER TABLE users_renamed RENAME TO users');
  const password = createKey('wrong password of the database');
  const denied = { ...settings, DATABASE_URL: Object.assign(new URL(proxy.url), { password }).href };
  const output = await runCommand('src/commands/jobs.js', denied, 'list');
  expect(output).toContain('password authentication failed');
  await sendAndRecord(204, adminClient.post('/api/logout'));
  records.push(...(await dumpDatabase(database.pool)));
  await service.stop();
  const keyFile = join(folder, 'development-secrets.json');
  const keys = Object.values(JSON.parse(await readFile(keyFile, 'utf8')) as Record<string, string>);
  expect(keys).toHaveLength(2);
  for (const key of keys) finder.add('a generated key', key);
  const files = (await readFolder(folder)).filter(([path]) => path !== keyFile);
  records.push(['the log', service.output()], ...files);
  expect(service.output()).toMatch(/"level":"error".*dead job/);
  expect(records.flatMap(([where, text]) => finder.find(where, text))).toEqual([]);
});
