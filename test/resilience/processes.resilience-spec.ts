import { randomUUID } from 'node:crypto';
import { Client } from '../support/client.js';
import { createEmptyDatabase, type TestDatabase } from '../support/databases.js';
import { jobRows } from '../support/jobs.js';
import { NOTIFICATIONS_PATH } from '../support/notifications.js';
import { order, orderOf } from '../support/orders.js';
import { png } from '../support/pictures.js';
import { type BuiltProcess, untilListening } from '../support/process.js';
import { createProduct, expectOnlyImages, form, productOf } from '../support/products.js';
import { ADMIN } from '../support/service.js';
import { until } from '../support/wait.js';
import { ExternalServices } from './support/external-services.js';
import { isLongForm } from './support/long-form.js';
import { killHard, ServiceInstance } from '../support/service-process.js';

const PROCESSES = 4;
const COPIES = 40;
/** Mails that a process works at side by side; see src/jobs/job-kinds.ts. */
const JOBS_AT_ONCE = 4;

let external: ExternalServices;
let places: ServiceInstance[];
let processes: BuiltProcess[];
let database: TestDatabase;

/** All processes start at the same instant on the empty database. */
beforeAll(async () => {
  database = await createEmptyDatabase();
  const owner = await ServiceInstance.create();
  external = await ExternalServices.start(owner.dataDir);
  const others = Array.from({ length: PROCESSES - 1 }, () => ServiceInstance.create(owner.dataDir));
  // Stop the owner of the folder last.
  places = [...(await Promise.all(others)), owner];
  processes = places.map((place) => place.spawn({ ...external.settings, DATABASE_URL: database.url }));
  await Promise.all(processes.map((process, index) => untilListening(process, places[index]?.url ?? '')));
});

afterAll(async () => {
  await Promise.all(places.map((place) => place.clear()));
  await external.close();
  await database.drop();
  expect(await Promise.all(processes.slice(1).map(({ exited }) => exited))).toEqual([0, 0, 0]);
});

/** At one process after the other, with the session of `like`. */
function clientOf(index: number, like?: Client): Client {
  const client = new Client(places[index % PROCESSES]?.url ?? '');
  return like === undefined ? client : client.setCookie('accessToken', like.cookie('accessToken'));
}

async function register(index: number, email = `${randomUUID()}@example.com`): Promise<Client> {
  const client = clientOf(index);
  await client.register({ email }).expect(201);
  return client;
}

async function count(from: string): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${from}`);
  return rows[0]?.count ?? -1;
}

/** Counts the responses by status. */
async function statusesOf(
  answers: readonly PromiseLike<{ status: number }>[],
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { status } of await Promise.all(answers)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

function copies<T>(send: (index: number) => T, length = COPIES): T[] {
  return Array.from({ length }, (_, index) => send(index));
}

const untilIdle = () =>
  until('an empty queue', async () => (await jobRows(database.pool)).length === 0, 120_000);

it('processes that start in parallel on a new database run each migration once and create one administrator', async () => {
  expect(await count('(SELECT name FROM migrations GROUP BY name HAVING count(*) > 1) AS twice')).toBe(0);
  expect(await count('migrations')).toBeGreaterThan(3);
  expect(await count("users WHERE role = 'ADMIN'")).toBe(1);
});

it('each new account gets exactly one mail', async () => {
  await Promise.all(copies((index) => register(index)));
  await untilIdle();
  expect(new Set(external.smtp.mails.map(({ to }) => to[0])).size).toBe(COPIES);
  expect(external.smtp.mails).toHaveLength(COPIES);
});

it('parallel requests with one idempotency key create one order, and copies of its notification are applied once', async () => {
  const admin = clientOf(0);
  await admin.post('/api/login').send(ADMIN).expect(200);
  const { id } = await createProduct(admin);
  const customer = await register(1);
  const key = randomUUID();
  const orders = await Promise.all(
    copies((index) => order(clientOf(index, customer), [{ product_id: id, quantity: 2 }], key)),
  );
  expect(orders.map(({ status }) => status)).toEqual(orders.map(() => 201));
  const [orderId = '', ...others] = new Set(orders.map((answer) => orderOf(answer).order_id));
  expect(others).toEqual([]);
  expect(await count('orders')).toBe(1);
  expect(external.gateway.callsOf('create')).toHaveLength(1);

  external.gateway.settle(orderId);
  const body = external.gateway.notification(orderId);
  const notifications = copies((index) => clientOf(index).post(NOTIFICATIONS_PATH).send(body));
  expect(await statusesOf(notifications)).toEqual({ 200: COPIES });
  expect(await count("payment_notifications WHERE outcome = 'applied'")).toBe(1);
  expect(await count("payment_notifications WHERE outcome = 'duplicate'")).toBe(COPIES - 1);
});

it('a one-time code allows five guesses in total, at any number of processes', async () => {
  const guesser = await register(1);
  await untilIdle();
  const guesses = copies((index) =>
    clientOf(index, guesser)
      .post('/api/otp/verify')
      .send({ otp: String(100_000 + index) }),
  );
  expect(await statusesOf(guesses)).toEqual({ 400: COPIES });
  expect(await count('one_time_passwords WHERE tries > 5')).toBe(0);
  expect(await count('one_time_passwords WHERE tries = 5')).toBe(1);
});

it('a product has at most five images, even if several processes add images', async () => {
  const admin = clientOf(0);
  await admin.post('/api/login').send(ADMIN).expect(200);
  const fields = { name: 'Kue', description: 'Lapis', price: '1' };
  const files = (seeds: string[]) => seeds.map((seed) => ({ bytes: png(seed), name: `${seed}.png` }));
  const { id } = await createProduct(admin, files(['a', 'b', 'c']), fields);
  const updates = copies((index) => {
    const put = clientOf(index, admin).put(`/api/products/${id}`);
    return form(put, { ...fields, 'images.removed[]': '' }, files([`${index}-d`, `${index}-e`]));
  }, 8);
  expect(await statusesOf(updates)).toEqual({ 200: 1, 400: 7 });
  const { images } = productOf(await admin.get(`/api/products/${id}`).expect(200));
  expect(images).toHaveLength(5);
  await expectOnlyImages(database, external.cloudinary, images ?? []);
});

it('the remaining processes run the jobs of a process that was killed with kill -9', async () => {
  const runningJobs = async (): Promise<number> =>
    (await jobRows(database.pool)).filter(({ locked_by }) => locked_by !== null).length;
  external.smtp.hang();
  const emails = copies(() => `${randomUUID()}@example.com`, 24);
  await Promise.all(emails.map((email, index) => register(index, email)));
  await until('every process is busy', async () => (await runningJobs()) === PROCESSES * JOBS_AT_ONCE);
  const [first] = processes;
  if (first !== undefined) await killHard(first);
  external.smtp.resume();
  if (!isLongForm) {
    await until('only the dead process has jobs', async () => (await runningJobs()) === JOBS_AT_ONCE);
    // Let a minute pass, after which a process that still has a job locked counts as dead.
    await database.pool.query(
      "UPDATE graphile_worker._private_jobs SET locked_at = locked_at - interval '60 s' WHERE locked_at IS NOT NULL",
    );
  }
  await untilIdle();
  const mailed = external.smtp.mails.flatMap(({ to }) => to);
  expect(emails.filter((email) => !mailed.includes(email))).toEqual([]);
});
