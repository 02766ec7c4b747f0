import { randomUUID } from 'node:crypto';
import type { Response } from 'supertest';
import type { Client } from '../support/client.js';
import { CloudinaryStandIn, type CloudinaryFault } from '../support/cloudinary-stand-in.js';
import { makeJobsDue } from '../support/jobs.js';
import { MidtransStandIn, type MidtransFault } from '../support/midtrans-stand-in.js';
import { orderOf } from '../support/orders.js';
import { png } from '../support/pictures.js';
import { CAKE, form, letTimePass } from '../support/products.js';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.js';
import { SmtpStandIn } from '../support/smtp-stand-in.js';
import { until } from '../support/wait.js';
import { isLongForm, record } from './support/figures.js';

const REMOVALS = isLongForm ? 5_000 : 1_000;
const CALLERS = isLongForm ? 200 : 60;
/** A process that has warmed up may grow by so much, whatever an external service does. */
const GROWTH_MIB = 120;
/** To each service; see job-kinds.ts, cloudinary.image-host.ts and midtrans.gateway.ts. */
const MOST_CONNECTIONS = { mail: 4, removals: 3, images: 32, gateway: 64 };
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
    CLOUDINARY_URL: images.url,
    SMTP_URL: smtp.url,
    PAYMENT_GATEWAY: 'midtrans',
    MIDTRANS_SERVER_KEY: gateway.serverKey,
    MIDTRANS_SNAP_URL: gateway.snapUrl,
    MIDTRANS_API_URL: gateway.apiUrl,
  });
  admin = await service.admin();
  productId = await addProduct();
});

afterEach(() => {
  images.clearFaults();
  gateway.clearFaults();
});

afterAll(async () => {
  try {
    expect(await service.stop()).toBe(0);
  } finally {
    await images.close();
    await smtp.close();
    await gateway.close();
  }
});

async function query<T>(sql: string, values: unknown[] = []): Promise<T[]> {
  const { rows } = await service.database.pool.query(sql, values);
  return rows as T[];
}

async function addProduct(): Promise<number> {
  const [row] = await query<{ id: number }>(
    `INSERT INTO products (name, description, price) VALUES ('Croissant', 'From today', 25000) RETURNING id`,
  );
  return row?.id ?? 0;
}

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

async function statusOf(orderId: string): Promise<string | undefined> {
  return (await query<{ status: string }>('SELECT status FROM orders WHERE order_id = $1', [orderId]))[0]
    ?.status;
}

/** A payment check, enqueued now, must have been made within seconds. */
async function expectPaymentChecked(): Promise<void> {
  const orderId = await paidOrder();
  await query(`SELECT graphile_worker.add_job('check-order', $1::json, job_key := $2)`, [
    JSON.stringify({ orderId }),
    `check-order:${orderId}`,
  ]);
  await until('the payment is found', async () => (await statusOf(orderId)) === 'settlement', 5_000);
}

async function jobsLeft(task: string): Promise<number> {
  const [row] = await query<{ left: number }>(
    'SELECT count(*)::int AS left FROM graphile_worker.jobs WHERE task_identifier = $1',
    [task],
  );
  return row?.left ?? 0;
}

/** Watches what an external service sees and what the process needs while `work` runs. */
async function watched<T>(
  connections: () => number,
  work: Promise<T>,
): Promise<{ result: T; most: number; growth: number }> {
  const before = await service.residentMiB();
  let most = 0;
  let resident = before;
  let isDone = false;
  const watching = until(
    'the work is done',
    async () => {
      most = Math.max(most, connections());
      resident = Math.max(resident, await service.residentMiB());
      return isDone;
    },
    120_000,
  );
  const result = await work.finally(() => (isDone = true));
  await watching;
  record('external services that fail', {
    'faults held': 1,
    'resident memory gained, most MiB': resident - before,
  });
  return { result, most, growth: resident - before };
}

/** @returns the answer and the milliseconds that it took */
async function timed(
  request: PromiseLike<Response>,
): Promise<{ status: number; took: number; answer: Response }> {
  const begun = performance.now();
  const answer = await request;
  const took = performance.now() - begun;
  record('external services that fail', { 'requests answered meanwhile': 1, 'slowest of them ms': took });
  return { status: answer.status, took, answer };
}

const slowest = (answers: readonly { took: number }[]): number =>
  Math.max(...answers.map(({ took }) => took));
const statuses = (answers: readonly { status: number }[]): number[] => [
  ...new Set(answers.map(({ status }) => status)),
];

describe('the queue', () => {
  it(`${REMOVALS} image removals at a host that hangs delay neither a mail nor a payment check`, async () => {
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
    const { most, growth } = await watched(
      () => images.openConnections,
      (async () => {
        await service.client().register({ email }).expect(201);
        await smtp.waitForMail(({ to }) => to.includes(email), 5_000);
        await expectPaymentChecked();
      })(),
    );
    expect(most).toBeLessThanOrEqual(MOST_CONNECTIONS.removals);
    expect(growth).toBeLessThan(GROWTH_MIB);

    images.clearFaults();
    await makeJobsDue(service.database.pool);
    const enough = isLongForm ? 0 : REMOVALS - 100;
    await until(
      'they are removed when it is back',
      async () => (await jobsLeft('remove-image')) <= enough,
      120_000,
    );
    await query(
      `DELETE FROM graphile_worker._private_jobs WHERE key LIKE 'remove-image:%' AND locked_at IS NULL`,
    );
    await query('DELETE FROM images');
  });

  it.each(isLongForm ? (['hang', 'hangAfterData'] as const) : (['hangAfterData'] as const))(
    'a mail server that does %s stops no payment check, and each mail leaves when it is back',
    async (fault) => {
      smtp[fault]();
      const emails = Array.from({ length: CALLERS }, () => `${randomUUID()}@example.com`);
      const { result, most, growth } = await watched(
        () => smtp.openConnections,
        (async () => {
          const answers = await Promise.all(
            emails.map((email) => timed(service.client().register({ email }))),
          );
          await expectPaymentChecked();
          return answers;
        })(),
      );
      expect(statuses(result)).toEqual([201]);
      expect(most).toBeLessThanOrEqual(MOST_CONNECTIONS.mail);
      expect(growth).toBeLessThan(GROWTH_MIB);

      smtp.resume();
      await until(
        'every mail has left',
        async () => {
          await makeJobsDue(service.database.pool);
          return (await jobsLeft('send-otp')) === 0;
        },
        60_000,
      );
      const recipients = smtp.mails.flatMap(({ to }) => to).filter((to) => emails.includes(to));
      expect(recipients.sort()).toEqual(emails.sort());
    },
  );
});

describe('the image host', () => {
  const faults: CloudinaryFault['kind'][] = isLongForm
    ? ['error', 'hang', 'drip', 'cut', 'cut-after-accepting', 'hang-after-accepting', 'garbage']
    : ['cut-after-accepting'];

  it.each(faults as ('error' | 'drip')[])(
    'uploads at a host with fault %s are 500 in bounded time and leave no orphan',
    async (kind) => {
      images.fault({ operation: 'upload', kind });
      const { result, most, growth } = await watched(
        () => images.openConnections,
        Promise.all(
          Array.from({ length: CALLERS }, (_, n) =>
            timed(form(admin.clone().post('/api/products'), CAKE, [{ name: 'a.png', bytes: png(n) }])),
          ),
        ),
      );
      expect(statuses(result)).toEqual([500]);
      expect(slowest(result)).toBeLessThan(20_000);
      expect(most).toBeLessThanOrEqual(MOST_CONNECTIONS.images);
      expect(growth).toBeLessThan(GROWTH_MIB);

      images.clearFaults();
      await form(admin.post('/api/products'), CAKE, []).expect(201);
      await letTimePass(service.database);
      await until(
        'no orphan is left',
        async () => {
          await makeJobsDue(service.database.pool);
          return images.images.size === 0 && (await jobsLeft('remove-image')) === 0;
        },
        60_000,
      );
      expect(await query('SELECT 1 FROM images')).toEqual([]);
    },
  );
});

describe('the payment gateway', () => {
  const answer = (status: number, body: string | object) => ({ kind: 'answer', status, body }) as const;
  const faults: [string, Parameters<MidtransStandIn['fault']>[0]][] = [
    ['hangs', { operation: 'create', kind: 'hang' }],
    ...(isLongForm
      ? ([
          ['answers with a huge body', { operation: 'create', ...answer(201, 'x'.repeat(5_000_000)) }],
          ['drips', { operation: 'create', kind: 'drip' }],
          ['cuts', { operation: 'create', kind: 'cut' }],
          ['fails', { operation: 'create', kind: 'error' }],
          ['answers 407', { operation: 'create', ...answer(407, {}) }],
          ['answers HTML', { operation: 'create', kind: 'garbage' }],
          ['answers other JSON', { operation: 'create', ...answer(201, { token: 7 }) }],
        ] satisfies [string, MidtransFault][])
      : []),
  ];

  it.each(faults)(
    'orders at a gateway that %s are 502 in bounded time and continue when it is well',
    async (_name, fault) => {
      const customer = service.client();
      await customer.register({ email: `${randomUUID()}@example.com` }).expect(201);
      const order = (key: string) =>
        customer
          .clone()
          .post('/api/orders')
          .set('Idempotency-Key', key)
          .send({ items: [{ product_id: productId, quantity: 2 }] });
      const keys = Array.from({ length: CALLERS }, () => randomUUID());

      gateway.fault(fault);
      const { result, most, growth } = await watched(
        () => gateway.openConnections,
        Promise.all(keys.map((key) => timed(order(key)))),
      );
      expect(statuses(result)).toEqual([502]);
      expect(slowest(result)).toBeLessThan(12_000);
      expect(most).toBeLessThanOrEqual(MOST_CONNECTIONS.gateway);
      expect(growth).toBeLessThan(GROWTH_MIB);

      gateway.clearFaults();
      const continued = await Promise.all(keys.map((key) => timed(order(key))));
      expect(statuses(continued)).toEqual([201]);
      expect(
        new Set(continued.map(({ answer: { body } }) => orderOf({ body: body as unknown }).redirect_url))
          .size,
      ).toBe(CALLERS);
    },
  );
});

describe('the database, held by others', () => {
  const HELD_MS = 12_000;

  it('with every connection waiting for a lock, readiness fails, liveness passes, and a notification is answered 503 in time', async () => {
    const orderId = await paidOrder();
    const holder = await service.database.pool.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('LOCK TABLE products IN ACCESS EXCLUSIVE MODE');
      const reads = Promise.all(
        // Not the list: that is answered from memory.
        Array.from({ length: CALLERS }, () => timed(admin.clone().get(`/api/products/${productId}`))),
      );
      await until('the pool is full', async () => {
        const [row] = await query<{ waiting: number }>(
          `SELECT count(*)::int AS waiting FROM pg_stat_activity
           WHERE application_name = 'bakery' AND wait_event_type = 'Lock' AND datname = current_database()`,
        );
        return row?.waiting === 10;
      });
      const [live, ready, notified] = await Promise.all([
        timed(service.client().get('/api/health/live')),
        timed(service.client().get('/api/health/ready')),
        timed(service.client().post('/api/products/payments').send(gateway.notification(orderId))),
      ]);
      expect([live.status, ready.status, notified.status]).toEqual([200, 503, 503]);
      expect(live.took).toBeLessThan(2_000);
      expect(ready.took).toBeLessThan(5_000);
      expect(notified.took).toBeLessThan(HELD_MS);

      const answers = await reads;
      expect(statuses(answers)).toEqual([503]);
      expect(slowest(answers)).toBeLessThan(HELD_MS);
    } finally {
      await holder.query('ROLLBACK');
      holder.release();
    }
    await until('it is ready again', async () => (await fetch(`${service.url}/api/health/ready`)).ok, 5_000);
    await admin.get('/api/products').expect(200);
  });

  it('a notification whose order is locked is answered 503 within 15 seconds', async () => {
    const orderId = await paidOrder();
    const holder = await service.database.pool.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('SELECT 1 FROM orders WHERE order_id = $1 FOR UPDATE', [orderId]);
      const { status, took } = await timed(
        service.client().post('/api/products/payments').send(gateway.notification(orderId)),
      );
      expect(status).toBe(503);
      expect(took).toBeLessThan(12_000);
    } finally {
      await holder.query('ROLLBACK');
      holder.release();
    }
    await service.client().post('/api/products/payments').send(gateway.notification(orderId)).expect(200);
    expect(await statusOf(orderId)).toBe('settlement');
  });
});
