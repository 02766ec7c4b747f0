import { randomUUID } from 'node:crypto';
import type { Response } from 'supertest';
import type { Client } from '../support/client.js';
import { CloudinaryStandIn } from '../support/cloudinary-stand-in.js';
import { makeJobsDue } from '../support/jobs.js';
import { MidtransStandIn } from '../support/midtrans-stand-in.js';
import { NOTIFICATIONS_PATH } from '../support/notifications.js';
import { gatewaySettings, order, orderOf } from '../support/orders.js';
import { png } from '../support/pictures.js';
import { CAKE, createProduct, form, letTimePass } from '../support/products.js';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.js';
import { SmtpStandIn } from '../support/smtp-stand-in.js';
import { until } from '../support/wait.js';
import { isLongForm } from './support/long-form.js';

const REMOVALS = isLongForm ? 5_000 : 1_000;
const CALLERS = isLongForm ? 200 : 60;
/** A process that has warmed up may grow by so much, also while an external service fails. */
const GROWTH_MIB = 120;
/** To each service; see job-kinds.ts, cloudinary.image-host.ts and midtrans.gateway.ts. */
const MOST_CONNECTIONS = { mail: 4, removals: 3, images: 4, gateway: 64 };
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
  await Promise.all([images.close(), smtp.close(), gateway.close()]);
  expect(code).toBe(0);
});

async function query<T>(sql: string, values: unknown[] = []): Promise<T[]> {
  const { rows } = await service.database.pool.query(sql, values);
  return rows as T[];
}

const jobsLeft = async (task: string): Promise<number> =>
  (await query('SELECT FROM graphile_worker.jobs WHERE task_identifier = $1', [task])).length;

/** A pending order that was paid at the gateway, without a notification of it. */
async function paidOrder(): Promise<string> {
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

/** A payment check, enqueued now, must have been made within seconds. */
async function expectPaymentChecked(): Promise<void> {
  const orderId = await paidOrder();
  await query(`SELECT graphile_worker.add_job('check-order', $1::json, job_key := $2)`, [
    JSON.stringify({ orderId }),
    `check-order:${orderId}`,
  ]);
  const isPaid = async () =>
    (await query("SELECT FROM orders WHERE order_id = $1 AND status = 'settlement'", [orderId])).length === 1;
  await until('the payment is found', isPaid, 5_000);
}

/** Meanwhile the external service sees few connections, and the process grows little. */
async function bounded<T>(connections: () => number, most: number, work: Promise<T>): Promise<T> {
  const before = await service.residentMiB();
  let [seen, growth, isDone] = [0, 0, false];
  const watching = until(
    'the work is done',
    async () => {
      seen = Math.max(seen, connections());
      growth = Math.max(growth, (await service.residentMiB()) - before);
      return isDone;
    },
    120_000,
  );
  const result = await work.finally(() => (isDone = true));
  await watching;
  expect(seen).toBeLessThanOrEqual(most);
  expect(growth).toBeLessThan(GROWTH_MIB);
  return result;
}

/** Each request is answered with this status within this time. @returns the answers */
function expectAnswers(
  status: number,
  withinMs: number,
  requests: readonly PromiseLike<Response>[],
): Promise<Response[]> {
  const began = performance.now();
  return Promise.all(
    requests.map(async (request) => {
      const answer = await request;
      expect(answer.status).toBe(status);
      expect(performance.now() - began).toBeLessThan(withinMs);
      return answer;
    }),
  );
}

const callers = <T>(call: (index: number) => T): T[] =>
  Array.from({ length: CALLERS }, (_, index) => call(index));

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
  await until('removals hang', () => images.openConnections === MOST_CONNECTIONS.removals);
  const email = `${randomUUID()}@example.com`;
  const meanwhile = async (): Promise<void> => {
    await service.client().register({ email }).expect(201);
    await smtp.waitForMail(({ to }) => to.includes(email), 5_000);
    await expectPaymentChecked();
  };
  await bounded(() => images.openConnections, MOST_CONNECTIONS.removals, meanwhile());

  images.clearFaults();
  await makeJobsDue(service.database.pool);
  const enough = isLongForm ? 0 : REMOVALS - 100;
  await until('the images are removed', async () => (await jobsLeft('remove-image')) <= enough, 120_000);
  await query(
    `DELETE FROM graphile_worker._private_jobs WHERE key LIKE 'remove-image:%' AND locked_at IS NULL`,
  );
  await query('DELETE FROM images');
});

it.each(isLongForm ? (['hang', 'hangAfterData'] as const) : (['hangAfterData'] as const))(
  'a mail server with the fault %s stops no payment check, and each mail is sent once it works again',
  async (fault) => {
    smtp[fault]();
    const emails = callers(() => `${randomUUID()}@example.com`);
    const registrations = emails.map((email) => service.client().register({ email }));
    const work = expectAnswers(201, 60_000, registrations).then(expectPaymentChecked);
    await bounded(() => smtp.openConnections, MOST_CONNECTIONS.mail, work);

    smtp.resume();
    const isEmpty = async (): Promise<boolean> => {
      await makeJobsDue(service.database.pool);
      return (await jobsLeft('send-otp')) === 0;
    };
    await until('every mail is sent', isEmpty, 60_000);
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
    const uploads = Array.from({ length: MOST_CONNECTIONS.images }, (_, n) =>
      form(admin.clone().post('/api/products'), CAKE, [{ name: 'a.png', bytes: png(n) }]),
    );
    await bounded(() => images.openConnections, MOST_CONNECTIONS.images, expectAnswers(500, 15_000, uploads));

    images.clearFaults();
    await createProduct(admin);
    await letTimePass(service.database);
    const isClean = async (): Promise<boolean> => {
      await makeJobsDue(service.database.pool);
      return images.images.size === 0 && (await jobsLeft('remove-image')) === 0;
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
    const keys = callers(() => randomUUID());
    const orders = () =>
      keys.map((key) => order(customer.clone(), [{ product_id: productId, quantity: 2 }], key));

    gateway.fault({ operation: 'create', ...fault });
    await bounded(
      () => gateway.openConnections,
      MOST_CONNECTIONS.gateway,
      expectAnswers(502, 12_000, orders()),
    );
    gateway.clearFaults();
    const continued = await expectAnswers(201, 60_000, orders());
    expect(new Set(continued.map((it) => orderOf(it).redirect_url)).size).toBe(CALLERS);
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
  const orderId = await paidOrder();
  await whileLocked('LOCK TABLE products IN ACCESS EXCLUSIVE MODE', [], async () => {
    // Not the list, because the service caches it.
    const read = () => admin.clone().get(`/api/products/${productId}`);
    const reads = expectAnswers(503, 12_000, callers(read));
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
  const orderId = await paidOrder();
  await whileLocked('SELECT FROM orders WHERE order_id = $1 FOR UPDATE', [orderId], async () => {
    await expectAnswers(503, 12_000, [notify(orderId)]);
  });
  await notify(orderId).expect(200);
  expect(await query('SELECT status FROM orders WHERE order_id = $1', [orderId])).toEqual([
    { status: 'settlement' },
  ]);
});
