import { randomUUID } from 'node:crypto';
import { Client } from '../support/client.js';
import { createEmptyDatabase, type TestDatabase } from '../support/databases.js';
import { jobRows } from '../support/jobs.js';
import { NOTIFICATIONS_PATH } from '../support/notifications.js';
import { order, orderOf } from '../support/orders.js';
import { png } from '../support/pictures.js';
import type { BuiltProcess } from '../support/process.js';
import { untilListening } from '../support/process.js';
import { createProduct, expectOnlyImages, form, productOf } from '../support/products.js';
import { ADMIN } from '../support/service.js';
import { until } from '../support/wait.js';
import { isLongForm, record } from './support/figures.js';
import { ExternalServices } from './support/external-services.js';
import { Random } from './support/random.js';
import { killHard, ServicePlace } from './support/service-process.js';

const PASSWORD = 'kue lapis legit';
const COPIES = 40;
const ACCOUNTS = 40;
/** Mails that a process works at side by side; see src/jobs/job-kinds.ts. */
const JOBS_AT_ONCE = 4;

let external: ExternalServices;
let places: ServicePlace[];
let processes: BuiltProcess[];
let database: TestDatabase;

/** Starts so many processes at the same instant on the empty database. */
async function startProcesses(count: number): Promise<void> {
  const first = await ServicePlace.prepare();
  external = await ExternalServices.start(first.dataDir, new Random('external services'));
  const others = Array.from({ length: count - 1 }, () => ServicePlace.prepare(first.dataDir));
  // The owner of the folder goes last.
  places = [...(await Promise.all(others)), first];
  processes = places.map((place) => place.spawn({ ...external.settings, DATABASE_URL: database.url }));
  await Promise.all(places.map((place, index) => untilListening(at(processes, index), place.url)));
}

function at<T>(list: readonly T[], index: number): T {
  const item = list[index % list.length];
  if (item === undefined) throw new RangeError('an empty list');
  return item;
}

function clientOf(index: number, like?: Client): Client {
  const client = new Client(at(places, index).url);
  return like === undefined ? client : client.setCookie('accessToken', like.cookie('accessToken'));
}

async function register(index: number, email = `${randomUUID()}@example.com`): Promise<Client> {
  const client = clientOf(index);
  await client.register({ email, password: PASSWORD }).expect(201);
  return client;
}

async function count(sql: string, values: unknown[] = []): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM ${sql}`,
    values,
  );
  return rows[0]?.count ?? -1;
}

async function untilIdle(): Promise<void> {
  await until('an empty queue', async () => (await jobRows(database.pool)).length === 0, 60_000);
}

/** Jobs that some process is at, or was when it died. */
async function runningJobs(): Promise<number> {
  return (await jobRows(database.pool)).filter(({ locked_by }) => locked_by !== null).length;
}

function copies<T>(send: (index: number) => PromiseLike<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: COPIES }, (_, index) => send(index)));
}

function tally(statuses: readonly number[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

describe.each(isLongForm ? [2, 4] : [4])('%i processes on one database', (howMany) => {
  const topic = `${howMany} processes on one database`;

  beforeAll(async () => {
    places = [];
    database = await createEmptyDatabase();
    await startProcesses(howMany);
  });

  afterAll(async () => {
    try {
      const [, ...alive] = processes;
      for (const { child } of alive) child.kill('SIGTERM');
      expect(await Promise.all(alive.map(({ exited }) => exited))).toEqual(alive.map(() => 0));
    } finally {
      await Promise.all(places.map((place) => place.clear()));
      await external.close();
      await database.drop();
    }
  });

  it('processes that start at once on a new database do everything once', async () => {
    // Migrations, and the administrator of ADMIN_EMAIL, whom every process settles at its start.
    expect(await count('(SELECT name FROM migrations GROUP BY name HAVING count(*) > 1) AS twice')).toBe(0);
    expect(await count('migrations')).toBeGreaterThan(3);
    expect(await count("users WHERE role = 'ADMIN'")).toBe(1);

    // Jobs: one mail for each account.
    const customers = await Promise.all(Array.from({ length: ACCOUNTS }, (_, index) => register(index)));
    await register(0, 'both@example.com');
    await clientOf(1).post('/api/login').send({ email: 'both@example.com', password: PASSWORD }).expect(200);
    await untilIdle();
    expect(external.smtp.mails).toHaveLength(ACCOUNTS + 1);
    expect(new Set(external.smtp.mails.map(({ to }) => to[0])).size).toBe(ACCOUNTS + 1);

    // Idempotency keys.
    const admin = clientOf(0);
    await admin.post('/api/login').send(ADMIN).expect(200);
    const product = await createProduct(admin);
    const customer = at(customers, 0);
    const key = randomUUID();
    const orders = await copies((index) =>
      order(clientOf(index, customer), [{ product_id: product.id, quantity: 2 }], key),
    );
    expect(tally(orders.map(({ status }) => status))).toEqual({ 201: COPIES });
    expect(new Set(orders.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(await count('orders')).toBe(1);
    expect(external.gateway.callsOf('create')).toHaveLength(1);

    // Notifications: one is applied, the others are duplicates.
    const { order_id: orderId } = orderOf(at(orders, 0));
    external.gateway.settle(orderId);
    const body = external.gateway.notification(orderId);
    const answers = await copies((index) => clientOf(index).post(NOTIFICATIONS_PATH).send(body));
    expect(tally(answers.map(({ status }) => status))).toEqual({ 200: COPIES });
    expect(await count("payment_notifications WHERE outcome = 'applied'")).toBe(1);
    expect(await count("payment_notifications WHERE outcome = 'duplicate'")).toBe(COPIES - 1);

    // One-time passwords: five tries, however many processes they are made at.
    const guesser = at(customers, 1);
    const wrong = await copies((index) =>
      clientOf(index, guesser)
        .post('/api/otp/verify')
        .send({ otp: String(100_000 + index) }),
    );
    expect(tally(wrong.map(({ status }) => status))).toEqual({ 400: COPIES });
    expect(await count('one_time_passwords WHERE tries > 5')).toBe(0);
    expect(await count('one_time_passwords WHERE tries = 5')).toBe(1);

    // Images: five at most.
    const fields = { name: 'Kue', description: 'Lapis', price: '1' };
    const three = [1, 2, 3].map((seed) => ({ bytes: png(seed), name: `${seed}.png` }));
    const full = await createProduct(admin, three, fields);
    const updates = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        form(
          clientOf(index, admin).put(`/api/products/${full.id}`),
          { ...fields, 'images.removed[]': '' },
          [1, 2].map((seed) => ({ bytes: png(`${index} ${seed}`), name: `${seed}.png` })),
        ),
      ),
    );
    expect(tally(updates.map(({ status }) => status))).toEqual({ 200: 1, 400: 7 });
    const { images } = productOf(await admin.get(`/api/products/${full.id}`).expect(200));
    expect(images).toHaveLength(5);
    await expectOnlyImages(database, external.cloudinary, images ?? []);

    record(topic, {
      'mails due': ACCOUNTS + 1,
      'mails left': external.smtp.mails.filter(({ subject }) => subject !== 'Your receipt').length,
      'requests under one idempotency key': COPIES,
      'orders made of them': 1,
      'copies of one notification': COPIES,
      'applied of them': 1,
      'guesses at one code': COPIES,
      'guesses evaluated': 5,
    });
  });

  it('a kill -9 of one of the processes loses no job: the others do its jobs', async () => {
    external.smtp.hang();
    const emails = Array.from({ length: 24 }, () => `${randomUUID()}@example.com`);
    await Promise.all(emails.map((email, index) => register(index, email)));
    // Each process works at four mails, so the one that is killed does as well.
    await until('all hands are full', async () => {
      return (await runningJobs()) === howMany * JOBS_AT_ONCE;
    });
    await killHard(at(processes, 0));
    const began = performance.now();
    external.smtp.resume();
    if (!isLongForm) {
      await until('only the dead process has jobs', async () => {
        return (await runningJobs()) === JOBS_AT_ONCE;
      });
      // A minute passes: then a process that still holds a job counts as dead.
      await database.pool.query(
        "UPDATE graphile_worker._private_jobs SET locked_at = locked_at - interval '60 s' WHERE locked_at IS NOT NULL",
      );
    }
    await until('an empty queue', async () => (await jobRows(database.pool)).length === 0, 120_000);
    const recipients = external.smtp.mails.flatMap(({ to }) => to).filter((to) => emails.includes(to));
    const mailed = new Set(recipients);
    record(`kill -9 of one of ${howMany} processes`, {
      'mails due': emails.length,
      'mails left': mailed.size,
      'mails sent again': recipients.length - mailed.size,
      'its jobs done by the others after ms': performance.now() - began,
    });
    expect(emails.filter((email) => !mailed.has(email))).toEqual([]);
  });
});
