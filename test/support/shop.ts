import { randomUUID } from 'node:crypto';
import type { Client } from './client.js';
import { jobRows } from './jobs.js';
import type { MidtransStandIn } from './midtrans-stand-in.js';
import { order, orderOf, startServiceWithGateway, userIdOf } from './orders.js';
import { createProduct } from './products.js';
import type { ServiceOptions, TestService } from './service.js';
import { until } from './wait.js';

/** Service with a Midtrans stand-in, a product and a customer. */
export interface Shop {
  readonly service: TestService;
  readonly gateway: MidtransStandIn;
  readonly customer: Client;
  readonly userId: number;
  readonly productId: number;
  close(): Promise<void>;
}

export const GROSS_AMOUNT = 370_000;

export async function openShop(options: ServiceOptions = {}): Promise<Shop> {
  const service = await startServiceWithGateway(options);
  const { id: productId } = await createProduct(await service.admin());
  const customer = await service.customer();
  return {
    service,
    gateway: service.gateway,
    customer,
    userId: userIdOf(customer),
    productId,
    close: () => service.stop(),
  };
}

/** Orders two pieces over HTTP. @returns the id of the order and of its first payment attempt */
export async function orderTwoPieces({ customer, productId }: Shop): Promise<string> {
  const answer = await order(customer, [{ product_id: productId, quantity: 2 }]).expect(201);
  return orderOf(answer).order_id;
}

/** Inserts pending orders by SQL and opens their payment pages at the gateway. */
export async function bulkOrders({ service, gateway, userId }: Shop, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID());
  await service.database.pool.query(
    `WITH ids AS (SELECT unnest($1::uuid[]) AS id),
       made AS (INSERT INTO orders (order_id, user_id, gross_amount) SELECT id, $2, $3 FROM ids)
     INSERT INTO payment_attempts (attempt_id, order_id, number, token, redirect_url, expires_at)
     SELECT id, id, 1, id, 'https://gateway.example/' || id, now() + interval '1 day' FROM ids`,
    [ids, userId, GROSS_AMOUNT],
  );
  for (const id of ids) gateway.open(id, GROSS_AMOUNT);
  return ids;
}

/** Adds a payment attempt to an order and opens its page at the gateway. @returns the id of the attempt */
export async function addAttempt({ service, gateway }: Shop, orderId: string): Promise<string> {
  const attemptId = randomUUID();
  await service.database.pool.query(
    `WITH changed AS (UPDATE orders SET attempt_id = $1::uuid WHERE order_id = $2)
     INSERT INTO payment_attempts (attempt_id, order_id, number, token, redirect_url, expires_at)
     SELECT $1::uuid, $2, max(number) + 1, $3, 'https://gateway.example/later', now() + interval '1 day'
     FROM payment_attempts WHERE order_id = $2`,
    [attemptId, orderId, attemptId],
  );
  gateway.open(attemptId, GROSS_AMOUNT);
  return attemptId;
}

/** Sends the gateway's notification of an order's last transaction. @returns the status of the response */
export async function sendNotificationOf(
  { service, gateway }: Shop,
  orderId: string,
  overrides: Record<string, unknown> = {},
): Promise<number> {
  const { status } = await gateway.notify(`${service.url}/api/products/payments`, orderId, overrides);
  return status;
}

/** Moves the creation and the next check of orders into the past. */
export async function letOrdersAge(
  { service }: Shop,
  orderIds: readonly string[],
  interval: string,
): Promise<void> {
  await service.database.pool.query(
    `UPDATE orders SET created_at = created_at - $2::interval, next_check_at = next_check_at - $2::interval
     WHERE order_id = ANY ($1)`,
    [orderIds, interval],
  );
}

/** Runs the job that cron enqueues every minute. */
export async function findDueOrders({ service }: Shop): Promise<void> {
  await service.database.pool.query(
    `SELECT graphile_worker.add_job('find-due-orders', '{}'::json, job_key := 'find-due-orders')`,
  );
}

/** Waits until no search for due orders and no payment check is pending. Dead jobs do not count. */
export async function waitForChecks({ service: { database } }: Shop): Promise<void> {
  await until('every check is done', async () => {
    const { rows } = await database.pool.query<{ waiting: number }>(
      `SELECT count(*)::int AS waiting FROM graphile_worker.jobs
       WHERE task_identifier IN ('find-due-orders', 'check-order') AND attempts < max_attempts`,
    );
    return rows[0]?.waiting === 0;
  });
}

/** Waits until this number of checks have failed and wait for a retry. */
export async function waitForFailedChecks({ service: { database } }: Shop, count = 1): Promise<void> {
  await until('the checks have failed', async () => {
    const jobs = await jobRows(database.pool, 'check-order');
    return jobs.filter((job) => job.last_error !== null && job.locked_by === null).length === count;
  });
}

/** Lets time pass for orders and runs the payment checks that become due. */
export async function reconcile(
  shop: Shop,
  orderIds: readonly string[],
  interval = '6 minutes',
): Promise<void> {
  await letOrdersAge(shop, orderIds, interval);
  await findDueOrders(shop);
  await waitForChecks(shop);
}

/** Entry of an order's history. */
export interface HistoryRow {
  readonly source: string;
  readonly outcome: string;
  readonly transaction_id: string | null;
  readonly transaction_status: string | null;
}

export async function historyOf({ service }: Shop, orderId: string): Promise<HistoryRow[]> {
  const { rows } = await service.database.pool.query<HistoryRow>(
    `SELECT source, outcome, transaction_id, transaction_status
     FROM payment_notifications WHERE order_id = $1 ORDER BY id`,
    [orderId],
  );
  return rows;
}

/** Summarizes a history: `notification settlement applied`. */
export async function describeHistory(shop: Shop, orderId: string): Promise<string[]> {
  return (await historyOf(shop, orderId)).map(
    ({ source, transaction_status, outcome }) => `${source} ${transaction_status ?? '-'} ${outcome}`,
  );
}

/** Counts the calls of one operation that the gateway received for an id. */
export function countGatewayCalls(
  { gateway }: Shop,
  operation: 'status' | 'cancel' | 'expire' | 'refund',
  id: string,
): number {
  return gateway.callsOf(operation).filter(({ orderId }) => orderId === id).length;
}

/** Log lines of level `error` and above: failed jobs and responses 5xx. */
export function loggedErrors({ log }: TestService): unknown[] {
  return log.filter(({ level }) => Number(level) >= 50 || level === 'error');
}
