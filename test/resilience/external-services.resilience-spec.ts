import { randomUUID } from 'node:crypto';
import type { Response } from 'supertest';
import type { Client } from '../support/client.js';
import { CloudinaryStandIn } from '../support/cloudinary-stand-in.js';
import { makeJobsDue } from '../support/jobs.js';
import { MidtransStandIn } from '../support/midtrans-stand-in.js';
import { NOTIFICATIONS_PATH } from '../support/notifications.js';
import { gatewaySettings, orderOf, requestOrder } from '../support/orders.js';
import { png } from '../support/pictures.js';
import { CAKE, createProduct, letTimePass, sendForm } from '../support/products.js';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.js';
import { SmtpStandIn } from '../support/smtp-stand-in.js';
import { until } from '../support/wait.js';
import { isLongForm } from './support/long-form.js';

const REMOVALS = isLongForm ? 5_000 : 1_000;
const CALLERS = isLongForm ? 200 : 60;
/** Growth of the process while an external service fails. */
const MAX_GROWTH_MIB = 120;
/** Connections to each service; see job-kinds.ts, cloudinary.image-host.ts and midtrans.client.ts. */
const MAX_CONNECTIONS = { mail: 4, removals: 3, images: 4, gateway: 64 };
const GROSS_AMOUNT = 50_000;

let images: CloudinaryStandIn;
let smtp: SmtpStandIn;
let gateway: MidtransStandIn;
let service: ServiceProcess;
let admin: Client;
let productId: number;

beforeAll(async () => {
  images = await CloudinaryStandIn.start();
  smtp = await SmtpStandIn.start();
  gateway = await MidtransStandIn.start();
  service = await startServiceProcess({
    ...gatewaySettings(gateway),
    CLOUDINARY_URL: images.url,
    SMTP_URL: smtp.url,
  });
  admin = await service.admin();
  ({ id: productId } = await createProduct(admin));
});

afterEach(() => {
  images.clearFaults();
  gateway.clearFaults();
});

afterAll(async () => {
  const code = await service.stop();
  await Promise.all([images.down(), smtp.down(), gateway.down()]);
  expect(code).toBe(0);
});

async function query<T>(sql: string, values: unknown[] = []): Promise<T[]> {
  const { rows } = await service.database.pool.query(sql, values);
  return rows as T[];
}

const countJobs = async (task: string): Promise<number> =>
  (await query('SELECT FROM graphile_worker.jobs WHERE task_identifier = $1', [task])).length;

/** Inserts a pending order that was paid at the gateway without a notification. */
async function insertPaidOrder(): Promise<string> {
  const orderId = randomUUID();
  await query(
    `WITH made AS (INSERT INTO orders (order_id, user_id, gross_amount) VALUES ($1, 1, $2) RETURNING order_id)
     INSERT INTO payment_attempts (attempt_id, order_id, number) SELECT order_id, order_id, 1 FROM made`,
    [orderId, GROSS_AMOUNT],
  );
  gateway.open(orderId, GROSS_AMOUNT);
  gateway.settle(orderId);
  return orderId;
}

/** Asserts that a payment check that is enqueued now is made within 5 seconds. */
async function expectPaymentChecked(): Promise<void> {
  const orderId = await insertPaidOrder();
  await query(`SELECT graphile_worker.add_job('check-order', $1::json, job_key := $2)`, [
    JSON.stringify({ orderId }),
    `check-order:${orderId}`,
  ]);
  const isPaid = async () =>
    (await query("SELECT FROM orders WHERE order_id = $1 AND status = 'settlement'", [orderId])).length === 1;
  await until('the payment is found', isPaid, 5_000);
}

/** Asserts that connections and memory stay bounded during some work. */
async function expectBounded<T>(
  host: { readonly openConnections: number },
  maxConnections: number,
  work: Promise<T>,
): Promise<void> {
  const before = await service.residentMiB();
  let [connections, growth, isDone] = [0, 0, false];
  const measuring = until(
    'the work is done',
    async () => {
      connections = Math.max(connections, host.openConnections);
      growth = Math.max(growth, (await service.residentMiB()) - before);
      return isDone;
    },
    120_000,
  );
  await work.finally(() => (isDone = true));
  await measuring;
  expect(connections).toBeLessThanOrEqual(maxConnections);
  expect(growth).toBeLessThan(MAX_GROWTH_MIB);
}

/** Asserts the status of each response and the time of all. */
async function expectAnswers(
  status: number,
  withinMs: number,
  requests: readonly PromiseLike<Response>[],
): Promise<Response[]> {
  const startedAt = performance.now();
  const answers = await Promise.all(requests);
  expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([status]));
  expect(performance.now() - startedAt).toBeLessThan(withinMs);
  return answers;
}

const forEachCaller = <T>(call: () => T): T[] => Array.from({ length: CALLERS }, call);

it(`${REMOVALS} image removals at a hanging host delay neither a mail nor a payment check`, async () => {
  images.fault({ operation: 'destroy', kind: 'hang' });
  await query(
    `WITH made AS (
       INSERT INTO images (id, host, state, url)
       SELECT gen_random_uuid(), 'cloudinary', 'condemned', 'https://res.cloudinary.com/x' FROM generate_series(1, $1)
       RETURNING id
     )
     SELECT graphile_worker.add_job('remove-image', json_build_object('imageId', id), job_key := 'remove-image:' || id,
       priority := 20, flags := ARRAY['images'], max_attempts := 32767) FROM made`,
    [REMOVALS],
  );
  await until('removals hang', () => images.openConnections === MAX_CONNECTIONS.removals);
  const email = `${randomUUID()}@example.com`;
  const meanwhile = async (): Promise<void> => {
    await service.client().register({ email }).expect(201);
    await smtp.waitForMail(({ to }) => to.includes(email), 5_000);
    await expectPaymentChecked();
  };
  await expectBounded(images, MAX_CONNECTIONS.removals, meanwhile());

  images.clearFaults();
  await makeJobsDue(service.database.pool);
  // The short form waits for 100 removals.
  const remaining = isLongForm ? 0 : REMOVALS - 100;
  await until('the images are removed', async () => (await countJobs('remove-image')) <= remaining, 120_000);
  await query(
    `DELETE FROM graphile_worker._private_jobs WHERE key LIKE 'remove-image:%' AND locked_at IS NULL`,
  );
  await query('DELETE FROM images');
});

it.each(isLongForm ? (['hang', 'hangAfterData'] as const) : (['hangAfterData'] as const))(
  'a mail server with the fault %s stops no payment check, and each mail is sent once it works again',
  async (fault) => {
    smtp[fault]();
    const emails = forEachCaller(() => `${randomUUID()}@example.com`);
    const registrations = emails.map((email) => service.client().register({ email }));
    const work = expectAnswers(201, 60_000, registrations).then(expectPaymentChecked);
    await expectBounded(smtp, MAX_CONNECTIONS.mail, work);

    smtp.resume();
    const isDone = async (): Promise<boolean> => {
      await makeJobsDue(service.database.pool);
      return (await countJobs('send-otp')) === 0;
    };
    await until('every mail is sent', isDone, 60_000);
    const recipients = smtp.mails.flatMap(({ to }) => to).filter((to) => emails.includes(to));
    expect(recipients.toSorted()).toEqual(emails.toSorted());
  },
);

const imageFaults = isLongForm
  ? (['error', 'hang', 'drip', 'down', 'answer-lost', 'garbage'] as const)
  : (['answer-lost'] as const);

it.each(imageFaults)(
  'uploads to an image host with the fault %s get 500 in bounded time and leave no orphan',
  async (kind) => {
    images.fault({ operation: 'upload', kind });
    // The service processes this many small forms at a time. Further forms would wait while the host hangs.
    const uploads = Array.from({ length: MAX_CONNECTIONS.images }, (_, n) =>
      sendForm(admin.clone().post('/api/products'), CAKE, [{ name: 'a.png', bytes: png(n) }]),
    );
    await expectBounded(images, MAX_CONNECTIONS.images, expectAnswers(500, 15_000, uploads));

    images.clearFaults();
    await createProduct(admin);
    await letTimePass(service.database);
    const isClean = async (): Promise<boolean> => {
      await makeJobsDue(service.database.pool);
      return images.images.size === 0 && (await countJobs('remove-image')) === 0;
    };
    await until('no orphan is left', isClean, 60_000);
    expect(await query('SELECT 1 FROM images')).toEqual([]);
  },
);

const answer = (status: number, body: string | object) => ({ kind: 'answer', status, body }) as const;
const gatewayFaults = [
  ['hangs', { kind: 'hang' }],
  ['sends a huge body', answer(201, 'x'.repeat(5_000_000))],
  ['sends single bytes', { kind: 'drip' }],
  ['closes the connection', { kind: 'cut' }],
  ['fails', { kind: 'error' }],
  ['responds 407', answer(407, {})],
  ['responds with HTML', { kind: 'garbage' }],
  ['responds with other JSON', answer(201, { token: 7 })],
] as const;

it.each(isLongForm ? gatewayFaults : gatewayFaults.slice(0, 1))(
  'orders at a gateway that %s get 502 in bounded time and continue once the gateway works',
  async (_name, fault) => {
    const customer = service.client();
    await customer.register({ email: `${randomUUID()}@example.com` }).expect(201);
    const keys = forEachCaller(() => randomUUID());
    const orders = () =>
      keys.map((key) => requestOrder(customer.clone(), [{ product_id: productId, quantity: 2 }], key));

    gateway.fault({ operation: 'create', ...fault });
    await expectBounded(gateway, MAX_CONNECTIONS.gateway, expectAnswers(502, 12_000, orders()));
    gateway.clearFaults();
    const placed = await expectAnswers(201, 60_000, orders());
    expect(new Set(placed.map((answer) => orderOf(answer).redirect_url)).size).toBe(CALLERS);
  },
);

/** Runs work while another transaction holds the locks of the statement. */
async function whileLocked(statement: string, values: unknown[], work: () => Promise<void>): Promise<void> {
  const holder = await service.database.pool.connect();
  try {
    await holder.query('BEGIN');
    await holder.query(statement, values);
    await work();
  } finally {
    await holder.query('ROLLBACK');
    holder.release();
  }
}

const notify = (orderId: string) =>
  service.client().post(NOTIFICATIONS_PATH).send(gateway.notification(orderId));

it('readiness fails, liveness passes and a notification gets 503 in time while every connection waits for a lock', async () => {
  const orderId = await insertPaidOrder();
  await whileLocked('LOCK TABLE products IN ACCESS EXCLUSIVE MODE', [], async () => {
    // Not the list, because the service caches it.
    const read = () => admin.clone().get(`/api/products/${productId}`);
    const reads = expectAnswers(503, 12_000, forEachCaller(read));
    await until('the pool is full', async () => {
      const waiting = await query(
        `SELECT FROM pg_stat_activity
         WHERE application_name = 'bakery' AND wait_event_type = 'Lock' AND datname = current_database()`,
      );
      return waiting.length === 10;
    });
    await Promise.all([
      reads,
      expectAnswers(200, 2_000, [service.client().get('/api/health/live')]),
      expectAnswers(503, 5_000, [service.client().get('/api/health/ready')]),
      expectAnswers(503, 12_000, [notify(orderId)]),
    ]);
  });
  await until('it is ready again', async () => (await fetch(`${service.url}/api/health/ready`)).ok, 5_000);
  await admin.get('/api/products').expect(200);
});

it('a notification for a locked order gets 503 within 15 seconds, and its retry is applied', async () => {
  const orderId = await insertPaidOrder();
  await whileLocked('SELECT FROM orders WHERE order_id = $1 FOR UPDATE', [orderId], async () => {
    await expectAnswers(503, 12_000, [notify(orderId)]);
  });
  await notify(orderId).expect(200);
  expect(await query('SELECT status FROM orders WHERE order_id = $1', [orderId])).toEqual([
    { status: 'settlement' },
  ]);
});
