import { randomUUID } from 'node:crypto';
import type { Response } from 'supertest';
import type { components } from '../../client/schema.js';
import type { Client } from './client.js';
import { expectFailure, MESSAGES } from './failure.js';
import { addJob, readJobs } from './jobs.js';
import {
  type MidtransOperation,
  MidtransStandIn,
  type MidtransStatus,
  type NotificationFields,
  type TransactionChange,
} from './midtrans-stand-in.js';
import { readHistory, sendNotification } from './notifications.js';
import { gatewaySettings, ORDERS, pageOf, placeOrder, userIdOf } from './orders.js';
import { createProduct } from './products.js';
import { SERVER_KEY, type ServiceOptions, type TestService, useService } from './service.js';
import { until } from './wait.js';

/** Total of an order of two pieces, in whole rupiah. */
export const GROSS_AMOUNT = 370_000;

type Schemas = components['schemas'];
/** Response for one order. It calls payment events of all kinds notifications, because version 1.0 stored no others. */
export interface AdminOrder {
  readonly order: Schemas['AdminOrderView'];
  readonly transactions: readonly Schemas['TransactionView'][];
  readonly actions: readonly Schemas['ActionView'][];
  readonly meta: Schemas['HistoryMeta'];
  readonly notifications: readonly Schemas['NotificationView'][];
}

interface StoredOrder {
  readonly status: string;
  readonly completed_at: Date | null;
  readonly transaction_id: string | null;
  readonly payment_type: string | null;
  readonly fraud_status: string | null;
  readonly transaction_amount: string | null;
  /** PostgreSQL's version of the row: it changes with every update. */
  readonly xmin: string;
}

interface StoredAttempt {
  readonly attempt_id: string;
  readonly number: number;
  readonly has_claim: boolean;
  readonly token: string | null;
}

export async function openShop(options: ServiceOptions = {}): Promise<Shop> {
  const gateway = await MidtransStandIn.start({ serverKey: SERVER_KEY });
  const settings = { ...gatewaySettings(gateway), ...options.settings };
  const service = await useService({ ...options, settings });
  const admin = await service.admin();
  const { id: productId } = await createProduct(admin);
  return new Shop(service, gateway, admin, await service.customer(), productId);
}

/** Opens a shop for the tests of a file. After each test, its gateway works normally again. */
export async function useShop(options: ServiceOptions = {}): Promise<Shop> {
  const shop = await openShop(options);
  afterEach(() => {
    shop.gateway.reset();
  });
  return shop;
}

/** Service with a Midtrans stand-in, an administrator, a product and a customer. */
export class Shop {
  constructor(
    readonly service: TestService,
    readonly gateway: MidtransStandIn,
    readonly admin: Client,
    readonly customer: Client,
    readonly productId: number,
  ) {}

  get userId(): number {
    return userIdOf(this.customer);
  }

  query<Row>(sql: string, values: unknown[] = []): Promise<Row[]> {
    return this.service.database.query<Row>(sql, values);
  }

  /** Orders two pieces over HTTP. Returns the id that the order and its first payment attempt share. */
  async orderTwoPieces(): Promise<string> {
    const { order_id } = await placeOrder(this.customer, [{ product_id: this.productId, quantity: 2 }]);
    return order_id;
  }

  /** Orders two pieces and starts their payment at the gateway, which does not notify the shop. */
  async orderWithUnreportedPayment(status: MidtransStatus = 'pending', change: TransactionChange = {}) {
    const orderId = await this.orderTwoPieces();
    this.gateway.setStatus(orderId, status, change);
    return orderId;
  }

  /** Cancels an order as its customer. */
  async cancel(orderId: string): Promise<Response> {
    return this.customer.post(`${ORDERS}/${orderId}/cancel`);
  }

  /** Moves an order to another step as an administrator. */
  async setFulfilment(orderId: string, fulfilment: unknown): Promise<Response> {
    return this.admin.put(`/api/admin/orders/${orderId}/fulfilment`).send({ fulfilment });
  }

  /** Returns the ids of the orders that an administrator finds with these filters. A list without orders is a 404. */
  async listAsAdmin(query: Readonly<Record<string, string>>): Promise<string[]> {
    const response = await this.admin.get('/api/admin/orders').query(query);
    if (response.status === 404) {
      expectFailure(response, 404, MESSAGES.notFound);
      return [];
    }
    return pageOf(response).orders.map(({ order_id }) => order_id);
  }

  /** Reads an order with its history as an administrator. */
  async readAsAdmin(orderId: string, query = '') {
    const response = await this.admin.get(`/api/admin/orders/${orderId}${query}`).expect(200);
    return (response.body as { data: AdminOrder }).data;
  }

  /** Requests a refund as an administrator. */
  async requestRefund(orderId: string, body: object = {}, key?: string): Promise<Response> {
    const headers = key === undefined ? {} : { 'Idempotency-Key': key };
    return this.admin.post(`/api/admin/orders/${orderId}/refund`).set(headers).send(body);
  }

  /**
   * Inserts pending orders, each with a payment attempt of the same id, and opens their payment pages. Returns the ids.
   * @param payTime time from the creation to `pay_until`. Null inserts orders of version 1.2, which have no `pay_until`.
   */
  async insertOrders(count: number, { payTime = '24 hours' }: { readonly payTime?: string | null } = {}) {
    const ids = Array.from({ length: count }, () => randomUUID());
    await this.query(
      `WITH ids AS (SELECT unnest($1::uuid[]) AS id),
         made AS (
           INSERT INTO orders (order_id, user_id, gross_amount, pay_until)
           SELECT id, $2, $3, now() + $4::interval FROM ids
         )
       INSERT INTO payment_attempts (attempt_id, order_id, number, token, redirect_url, expires_at)
       SELECT id, id, 1, id, 'https://gateway.example/' || id, now() + coalesce($4, '24 hours')::interval FROM ids`,
      [ids, this.userId, GROSS_AMOUNT, payTime],
    );
    for (const id of ids) this.gateway.openPaymentPage(id, GROSS_AMOUNT);
    return ids;
  }

  /**
   * Inserts orders with one item and one payment attempt each by SQL, without payment pages. Their creation times are a second
   * apart.
   * @returns the ids of the orders, newest first
   */
  async insertOrdersWithoutPages(customer: Client, count: number, status = 'pending'): Promise<string[]> {
    const rows = await this.query<{ order_id: string }>(
      `WITH made AS (
         INSERT INTO orders (order_id, user_id, status, gross_amount, created_at)
         SELECT gen_random_uuid(), $1, $3, n, now() - make_interval(secs => $2 - n) FROM generate_series(1, $2) AS n
         RETURNING order_id, gross_amount, created_at
       ), items AS (
         INSERT INTO order_items (order_id, position, product_id, name, price, quantity)
         SELECT order_id, 0, 1, 'Bread ' || gross_amount, gross_amount, 1 FROM made
       ), attempts AS (
         INSERT INTO payment_attempts (attempt_id, order_id, number) SELECT order_id, order_id, 1 FROM made
       )
       SELECT order_id FROM made ORDER BY created_at DESC, order_id DESC`,
      [userIdOf(customer), count, status],
    );
    return rows.map(({ order_id }) => order_id);
  }

  /** Reads the ids of all orders of a customer from the database, newest first. */
  async readStoredOrderIds(customer: Client): Promise<string[]> {
    const rows = await this.query<{ order_id: string }>(
      'SELECT order_id FROM orders WHERE user_id = $1 ORDER BY created_at DESC, order_id DESC',
      [userIdOf(customer)],
    );
    return rows.map(({ order_id }) => order_id);
  }

  async insertOrder(options?: Parameters<Shop['insertOrders']>[1]): Promise<string> {
    const [orderId = ''] = await this.insertOrders(1, options);
    return orderId;
  }

  /** Adds a newer payment attempt to an order and opens its page at the gateway. Returns the id of the attempt. */
  async addAttempt(orderId: string): Promise<string> {
    const attemptId = randomUUID();
    await this.query(
      `WITH changed AS (UPDATE orders SET attempt_id = $1::uuid WHERE order_id = $2)
       INSERT INTO payment_attempts (attempt_id, order_id, number, token, redirect_url, expires_at)
       SELECT $1::uuid, $2, max(number) + 1, $1::uuid::text, 'https://gateway.example/later', now() + interval '1 day'
       FROM payment_attempts WHERE order_id = $2`,
      [attemptId, orderId],
    );
    this.gateway.openPaymentPage(attemptId, GROSS_AMOUNT);
    return attemptId;
  }

  /** Returns the stored payment attempts of an order, oldest first. */
  readAttempts(orderId: string): Promise<StoredAttempt[]> {
    return this.query<StoredAttempt>(
      `SELECT attempt_id, number, claimed_at IS NOT NULL AS has_claim, token
       FROM payment_attempts WHERE order_id = $1 ORDER BY number`,
      [orderId],
    );
  }

  /** Sends a notification of the last transaction of a payment attempt. `overrides` change only the notification. */
  async sendNotification(attemptId: string, overrides: NotificationFields = {}): Promise<Response> {
    return sendNotification(this.service, this.gateway.notification(attemptId, overrides));
  }

  /** Sends a notification that the shop must accept. */
  async notify(attemptId: string, overrides: NotificationFields = {}): Promise<void> {
    expect(await this.sendNotification(attemptId, overrides)).toMatchObject({ status: 200, text: '' });
  }

  /** Changes the status of a payment at the gateway, and sends the gateway's notification of it. */
  async setStatusAndNotify(attemptId: string, status: MidtransStatus, change: TransactionChange = {}) {
    this.gateway.setStatus(attemptId, status, change);
    await this.notify(attemptId);
  }

  async readStoredOrder(orderId: string): Promise<StoredOrder> {
    const rows = await this.query<StoredOrder>(
      `SELECT status, completed_at, transaction_id, payment_type, fraud_status, transaction_amount, xmin::text
       FROM orders WHERE order_id = $1`,
      [orderId],
    );
    if (rows[0] === undefined) throw new Error('there is no such order');
    return rows[0];
  }

  async readStatus(orderId: string): Promise<string> {
    return (await this.readStoredOrder(orderId)).status;
  }

  /** Summarizes each entry in the payment history of an order, for example `notification settlement applied`. */
  async describeHistory(orderId: string): Promise<string[]> {
    const history = await readHistory(this.service, orderId);
    return history.map(
      ({ source, transaction_status, outcome }) => `${source} ${transaction_status ?? '-'} ${outcome}`,
    );
  }

  /** Counts the calls of one operation for a payment attempt, whose id the gateway receives as `orderId`. */
  countCalls(operation: MidtransOperation, attemptId: string): number {
    return this.gateway.listCalls(operation).filter(({ orderId }) => orderId === attemptId).length;
  }

  /** Moves the creation, the end of the time to pay and the next check of orders back by an interval. */
  async letOrdersAge(orderIds: readonly string[], interval: string): Promise<void> {
    await this.query(
      `UPDATE orders SET created_at = created_at - $2::interval, pay_until = pay_until - $2::interval,
         next_check_at = next_check_at - $2::interval
       WHERE order_id = ANY ($1)`,
      [orderIds, interval],
    );
  }

  /** Enqueues a search for due orders. Without a key, several searches can run in parallel. */
  async enqueueDueOrderSearch(): Promise<void> {
    await addJob(this.service.database.pool, 'find-due-orders', { key: null });
  }

  /** Waits until no search for due orders and no payment check is due within 30 seconds. Dead jobs do not count. */
  async waitForPaymentChecks(): Promise<void> {
    await until('every check is done', async () => {
      const { pool } = this.service.database;
      // Read the searches first, because a search may enqueue a check.
      const jobs = [...(await readJobs(pool, 'find-due-orders')), ...(await readJobs(pool, 'check-order'))];
      return jobs.every(({ attempts, max_attempts, due_in }) => attempts >= max_attempts || due_in > 30);
    });
  }

  /** Lets time pass for orders, by default enough for their first payment check, and runs the checks that become due. */
  async reconcile(orderIds: readonly string[], interval = '6 minutes'): Promise<void> {
    await this.letOrdersAge(orderIds, interval);
    await this.enqueueDueOrderSearch();
    await this.waitForPaymentChecks();
  }
}
