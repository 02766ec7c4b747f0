import { randomUUID } from 'node:crypto';
import type { Response } from 'supertest';
import { beginTransaction } from '../support/databases.js';
import { addJob, deleteJobs, makeJobsDue, readJobs } from '../support/jobs.js';
import { measureRunning } from '../support/measure.js';
import { sendNotification } from '../support/notifications.js';
import { orderOf, requestOrder } from '../support/orders.js';
import { waitUntilReady } from '../support/process.js';
import { createProduct } from '../support/products.js';
import { useServiceProcess } from '../support/service-process.js';
import { stopAfterUse } from '../support/stop-after-use.js';
import { until } from '../support/wait.js';
import { startExternalServices } from './support/external-services.js';
import { measureMaximum } from './support/maximum.js';

const REMOVALS = 1_000;
/** More than the gateway's maximum number of connections. */
const CALLERS = 80;
/** Limit for the growth of resident memory while an external service fails. */
const MAX_GROWTH_MIB = 120;
/** Maximum numbers of connections to external services; see job-kinds.ts and midtrans.client.ts. */
const MAX_CONNECTIONS = { removals: 3, gateway: 64 };
/** Maximum number of database connections of the service, without those of the job queue. */
const POOL_SIZE = 10;
const GROSS_AMOUNT = 50_000;

const external = await startExternalServices();
const service = await stopAfterUse(useServiceProcess(external.settings), async (started) => {
  expect(await started.stop()).toBe(0);
});
const admin = await service.admin();
const { id: productId } = await createProduct(admin);

const query = (sql: string, values: unknown[] = []) => service.database.query(sql, values);

// Not at the end of each test: a failed test must not make the next one fail.
afterEach(async () => {
  external.cloudinary.clearFaults();
  external.gateway.clearFaults();
  await deleteJobs(service.database.pool, '%');
  await query('DELETE FROM images');
});

/** Inserts a pending order of the administrator (user 1). The order is paid at the gateway, which has sent no notification. */
async function insertPaidOrder(): Promise<string> {
  const orderId = randomUUID();
  await query(
    `WITH made AS (INSERT INTO orders (order_id, user_id, gross_amount) VALUES ($1, 1, $2) RETURNING order_id)
     INSERT INTO payment_attempts (attempt_id, order_id, number) SELECT order_id, order_id, 1 FROM made`,
    [orderId, GROSS_AMOUNT],
  );
  external.gateway.openPaymentPage(orderId, GROSS_AMOUNT);
  external.gateway.settle(orderId);
  return orderId;
}

/** Asserts that a payment check that is enqueued now is made within 5 s. */
async function expectPaymentChecked(): Promise<void> {
  const orderId = await insertPaidOrder();
  await addJob(service.database.pool, 'check-order', { key: `check-order:${orderId}`, payload: { orderId } });
  const isPaid = async () =>
    (await query("SELECT FROM orders WHERE order_id = $1 AND status = 'settlement'", [orderId])).length === 1;
  const { runningMs } = await measureRunning(() => until('the payment is found', isPaid));
  expect(runningMs).toBeLessThan(5_000);
}

/** Asserts that the connections to an external service and the growth of memory stay within limits until `work` ends. */
async function expectBounded(
  externalService: { readonly openConnections: number },
  maxConnections: number,
  work: Promise<unknown>,
): Promise<void> {
  const startMiB = await service.residentMiB();
  const [connections, residentMiB] = await Promise.all([
    measureMaximum(() => externalService.openConnections, work),
    measureMaximum(() => service.residentMiB(), work),
  ]);
  expect(connections).toBeLessThanOrEqual(maxConnections);
  expect(residentMiB - startMiB).toBeLessThan(MAX_GROWTH_MIB);
}

/** Sends requests in parallel. Asserts the status of each response and the time until all have arrived. */
async function expectResponses(
  requests: readonly PromiseLike<Response>[],
  { status, withinMs = 60_000 }: { readonly status: number; readonly withinMs?: number },
) {
  const { result: responses, runningMs } = await measureRunning(() => Promise.all(requests));
  expect(new Set(responses.map((response) => response.status))).toEqual(new Set([status]));
  expect(runningMs).toBeLessThan(withinMs);
  return responses;
}

const repeatForCallers = <T>(call: (number: number) => T): T[] =>
  Array.from({ length: CALLERS }, (_, number) => call(number));

it(`${REMOVALS} image removals at a hanging host delay neither a mail nor a payment check, and continue later`, async () => {
  external.cloudinary.addFault({ operation: 'destroy', kind: 'hang' });
  const images = await service.database.query<{ id: string }>(
    `INSERT INTO images (id, host, state, url)
     SELECT gen_random_uuid(), 'cloudinary', 'condemned', 'https://res.cloudinary.com/x' FROM generate_series(1, $1)
     RETURNING id`,
    [REMOVALS],
  );
  const kind = { priority: 20, flags: ['images'], maxAttempts: 32_767 };
  for (const { id } of images) {
    const job = { key: `remove-image:${id}`, payload: { imageId: id }, ...kind };
    await addJob(service.database.pool, 'remove-image', job);
  }
  await until('removals hang', () => external.cloudinary.openConnections === MAX_CONNECTIONS.removals);
  const email = `${randomUUID()}@example.com`;
  const runOtherJobs = async (): Promise<void> => {
    const removals = external.cloudinary.listCalls('destroy').length;
    await service.client().register({ email }).expect(201);
    await external.smtp.waitForMail(({ to }) => to.includes(email));
    await expectPaymentChecked();
    // The mail and the check did not wait until a removal reached its deadline and the next one began.
    expect(external.cloudinary.listCalls('destroy')).toHaveLength(removals);
  };
  await expectBounded(external.cloudinary, MAX_CONNECTIONS.removals, runOtherJobs());

  external.cloudinary.clearFaults();
  await makeJobsDue(service.database.pool);
  // Waiting for all removals would take too long.
  const remaining = REMOVALS - 100;
  const countRemovals = async () => (await readJobs(service.database.pool, 'remove-image')).length;
  await until('the images are removed', async () => (await countRemovals()) <= remaining, 120_000);
});

it('orders at a gateway that does not respond get 502 within 12 s, and their retries succeed when the gateway works again', async () => {
  // A customer has at most 50 unpaid orders.
  const customers = Array.from({ length: Math.ceil(CALLERS / 50) }, () => service.client());
  for (const customer of customers)
    await customer.register({ email: `${randomUUID()}@example.com` }).expect(201);
  const keys = repeatForCallers((number) => ({
    key: randomUUID(),
    customer: customers[number % customers.length],
  }));
  const orders = () =>
    keys.map(({ key, customer = service.client() }) =>
      requestOrder(customer.clone(), [{ product_id: productId, quantity: 2 }], key),
    );

  external.gateway.addFault({ operation: 'create', kind: 'hang' });
  const rejected = expectResponses(orders(), { status: 502, withinMs: 12_000 });
  await expectBounded(external.gateway, MAX_CONNECTIONS.gateway, rejected);
  external.gateway.clearFaults();
  const placed = await expectResponses(orders(), { status: 201 });
  expect(new Set(placed.map((response) => orderOf(response).redirect_url)).size).toBe(CALLERS);
});

it('while every connection waits for a lock, the service is alive but not ready, and a notification gets 503 within 12 s', async () => {
  const orderId = await insertPaidOrder();
  const lock = 'LOCK TABLE products IN ACCESS EXCLUSIVE MODE';
  const { commit } = await beginTransaction(service.database, lock);
  // Each request reads a product, because the service caches the list.
  const read = () => admin.clone().get(`/api/products/${productId}`);
  const reads = expectResponses(repeatForCallers(read), { status: 503, withinMs: 12_000 });
  await until('the pool is full', async () => {
    const waiting = await query(
      `SELECT FROM pg_stat_activity
       WHERE application_name = 'bakery' AND wait_event_type = 'Lock' AND datname = current_database()`,
    );
    return waiting.length === POOL_SIZE;
  });
  await Promise.all([
    reads,
    expectResponses([service.client().get('/api/health/live')], { status: 200, withinMs: 2_000 }),
    expectResponses([service.client().get('/api/health/ready')], { status: 503, withinMs: 5_000 }),
    expectResponses([sendNotification(service, external.gateway.notification(orderId))], {
      status: 503,
      withinMs: 12_000,
    }),
  ]);
  await commit();
  const { runningMs } = await measureRunning(() => waitUntilReady(service.url));
  expect(runningMs).toBeLessThan(5_000);
  await admin.get('/api/products').expect(200);
});
