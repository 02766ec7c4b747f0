import { randomUUID } from 'node:crypto';
import { Client } from '../support/client.js';
import { createEmptyDatabase, type TestDatabase } from '../support/databases.js';
import { isInstalled } from '../support/installed.js';
import { readJobs } from '../support/jobs.js';
import { NOTIFICATIONS_PATH } from '../support/notifications.js';
import { placeOrder } from '../support/orders.js';
import { type PgBouncer, startPgBouncer } from '../support/pgbouncer.js';
import { type BuiltProcess, waitUntilListening } from '../support/process.js';
import { createProduct } from '../support/products.js';
import { signInAdmin } from '../support/service.js';
import { until } from '../support/wait.js';
import { ExternalServices } from './support/external-services.js';
import { isLongForm } from './support/long-form.js';
import { killHard, ServiceInstance } from '../support/service-process.js';

const PROCESSES = 4;
const COPIES = 40;
/** Mails that a process sends at a time; see src/jobs/job-kinds.ts. */
const CONCURRENT_MAILS = 4;

let external: ExternalServices;
let places: ServiceInstance[];
let processes: BuiltProcess[];
let database: TestDatabase;
let pooler: PgBouncer | undefined;

beforeAll(async () => {
  database = await createEmptyDatabase();
  const owner = await ServiceInstance.create();
  external = await ExternalServices.start(owner.dataDir);
  const others = Array.from({ length: PROCESSES - 1 }, () => ServiceInstance.create(owner.dataDir));
  // Stop the owner of the folder last.
  places = [...(await Promise.all(others)), owner];
  if (isInstalled('pgbouncer')) pooler = await startPgBouncer(database.url);
  // Every second process connects through PgBouncer in transaction mode.
  const databaseUrls = [database.url, pooler?.through(database.url) ?? database.url];
  processes = places.map((place, index) =>
    place.spawn({ ...external.settings, DATABASE_URL: databaseUrls[index % 2] ?? '' }),
  );
  await Promise.all(processes.map((process, index) => waitUntilListening(process, places[index]?.url ?? '')));
});

afterAll(async () => {
  await Promise.all(places.map((place) => place.clear()));
  await external.close();
  await pooler?.stop();
  await database.drop();
  expect(await Promise.all(processes.slice(1).map(({ exited }) => exited))).toEqual([0, 0, 0]);
});

/** Returns a client of one of the processes, with the session of another client. */
function clientOf(index: number, other?: Client): Client {
  const client = new Client(places[index % PROCESSES]?.url ?? '');
  return other === undefined ? client : client.setCookie('accessToken', other.cookie('accessToken'));
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

async function statusesOf(answers: readonly PromiseLike<{ status: number }>[]): Promise<number[]> {
  return (await Promise.all(answers)).map(({ status }) => status).sort((a, b) => a - b);
}

function repeat<T>(send: (index: number) => T, length = COPIES): T[] {
  return Array.from({ length }, (_, index) => send(index));
}

const untilIdle = () =>
  until('an empty queue', async () => (await readJobs(database.pool)).length === 0, 120_000);

it('processes that start in parallel on a new database run each migration once and create one administrator', async () => {
  expect(await count('(SELECT name FROM migrations GROUP BY name HAVING count(*) > 1) AS twice')).toBe(0);
  expect(await count('migrations')).toBeGreaterThan(3);
  expect(await count("users WHERE role = 'ADMIN'")).toBe(1);
});

it('each new account gets exactly one mail', async () => {
  await Promise.all(repeat((index) => register(index)));
  await untilIdle();
  expect(new Set(external.smtp.mails.map(({ to }) => to[0])).size).toBe(COPIES);
  expect(external.smtp.mails).toHaveLength(COPIES);
});

it('copies of a notification are applied once', async () => {
  const admin = await signInAdmin(clientOf(0).url);
  const { id } = await createProduct(admin);
  const customer = await register(1);
  const { order_id: orderId } = await placeOrder(customer, [{ product_id: id, quantity: 2 }]);
  external.gateway.settle(orderId);
  const body = external.gateway.notification(orderId);
  const notifications = repeat((index) => clientOf(index).post(NOTIFICATIONS_PATH).send(body));
  expect(await statusesOf(notifications)).toEqual(repeat(() => 200));
  expect(await count("payment_notifications WHERE outcome = 'applied'")).toBe(1);
  expect(await count("payment_notifications WHERE outcome = 'duplicate'")).toBe(COPIES - 1);
});

it('a one-time code allows five guesses in total, at any number of processes', async () => {
  const guesser = await register(1);
  await untilIdle();
  const guesses = repeat((index) =>
    clientOf(index, guesser)
      .post('/api/otp/verify')
      .send({ otp: String(100_000 + index) }),
  );
  expect(await statusesOf(guesses)).toEqual(repeat(() => 400));
  expect(await count('one_time_passwords WHERE tries > 5')).toBe(0);
  expect(await count('one_time_passwords WHERE tries = 5')).toBe(1);
});

it('the remaining processes run the jobs of a process that was killed with kill -9', async () => {
  const runningJobs = async (): Promise<number> =>
    (await readJobs(database.pool)).filter(({ locked_by }) => locked_by !== null).length;
  external.smtp.hang();
  const emails = repeat(() => `${randomUUID()}@example.com`, 24);
  await Promise.all(emails.map((email, index) => register(index, email)));
  await until('every process is busy', async () => (await runningJobs()) === PROCESSES * CONCURRENT_MAILS);
  const [first] = processes;
  if (first !== undefined) await killHard(first);
  external.smtp.resume();
  if (!isLongForm) {
    await until('only the dead process has jobs', async () => (await runningJobs()) === CONCURRENT_MAILS);
    // Let a minute pass, after which a process that still has a job locked counts as dead.
    await database.pool.query(
      "UPDATE graphile_worker._private_jobs SET locked_at = locked_at - interval '60 s' WHERE locked_at IS NOT NULL",
    );
  }
  await untilIdle();
  const mailed = external.smtp.mails.flatMap(({ to }) => to);
  expect(emails.filter((email) => !mailed.includes(email))).toEqual([]);
});
