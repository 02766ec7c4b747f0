import type { Response, Test } from 'supertest';
import type { Client } from './client.js';
import { MidtransStandIn } from './midtrans-stand-in.js';
import { NOTIFICATIONS_PATH } from './notifications.js';
import { fail } from './products.js';
import { type ServiceOptions, startBeforeTests, startService, type TestService } from './service.js';
import { decodeClaims } from './tokens.js';

export const ORDERS = '/api/orders';

export const GATEWAY_AWAY = fail(502, 'payment gateway is unavailable, please try again later');
export const NOT_PENDING = fail(409, 'order is no longer pending');
export const KEY_REUSED = fail(409, 'idempotency key was used with another request');

/** Returns the body of a validation failure. */
export function invalid(details: Readonly<Record<string, string>>): object {
  return fail(400, 'validation error', details);
}

export interface NewItem {
  readonly product_id: number;
  readonly quantity: number;
}

/** Order as shown in a response (contract 13). */
export interface OrderAnswer {
  readonly order_id: string;
  readonly status: string;
  readonly fulfilment: string;
  readonly gross_amount: number;
  readonly refunded_amount: number;
  readonly payment_type: string | null;
  readonly fraud_status: string | null;
  readonly completed_at: string | null;
  readonly created_at: string;
  readonly pickup_at: string | null;
  readonly phone: string | null;
  readonly note: string | null;
  readonly items: readonly (NewItem & { readonly name: string; readonly price: number })[];
  readonly token: string | null;
  readonly redirect_url: string | null;
  /** Only for administrators, like `refund_due`. */
  readonly customer?: { readonly id: number; readonly fullname: string; readonly email: string };
  readonly refund_due?: boolean;
}

interface OrderPage {
  readonly meta: { readonly lastOrderId: string };
  readonly orders: readonly OrderAnswer[];
}

/** Service with a payment gateway that validates its requests. */
export interface ServiceWithGateway extends TestService {
  readonly gateway: MidtransStandIn;
}

/** @param gateway existing gateway, which the caller closes; by default the service gets its own */
export async function startServiceWithGateway({
  gateway: given,
  ...options
}: ServiceOptions & { gateway?: MidtransStandIn } = {}): Promise<ServiceWithGateway> {
  const gateway = given ?? (await MidtransStandIn.start());
  const service = await startService({
    ...options,
    settings: { ...gatewaySettings(gateway), ...options.settings },
  });
  return {
    ...service,
    gateway,
    stop: async () => {
      await service.stop();
      if (given === undefined) await gateway.close();
    },
  };
}

/** Starts a service with its own gateway for the tests of a file. After each test, the gateway works normally again. */
export function useServiceWithGateway(): ServiceWithGateway {
  const service = startBeforeTests(
    () => startServiceWithGateway(),
    (started) => started.stop(),
  );
  afterEach(() => {
    service.gateway.reset();
  });
  return service;
}

/** Returns the settings that connect the service to this gateway. */
export function gatewaySettings(gateway: MidtransStandIn): Record<string, string> {
  return {
    PAYMENT_GATEWAY: 'midtrans',
    MIDTRANS_SERVER_KEY: gateway.serverKey,
    MIDTRANS_SNAP_URL: gateway.snapUrl,
    MIDTRANS_API_URL: gateway.apiUrl,
  };
}

/** Adds a product to the catalog. @returns the id of the product */
export async function addProduct(
  { database }: TestService,
  price: string | number = 25_000,
  name = 'Croissant',
): Promise<number> {
  const { rows } = await database.pool.query<{ id: number }>(
    "INSERT INTO products (name, description, price) VALUES ($1, 'From today', $2) RETURNING id",
    [name, price],
  );
  return rows[0]?.id ?? 0;
}

/** Sends POST /api/orders. */
export function order(client: Client, items: unknown, idempotencyKey?: string, fields: object = {}): Test {
  const request = client.post(ORDERS);
  if (idempotencyKey !== undefined) void request.set('Idempotency-Key', idempotencyKey);
  return request.send({ items, ...fields });
}

/** Creates an order, which must succeed. */
export async function placeOrder(
  client: Client,
  items: readonly NewItem[],
  idempotencyKey?: string,
): Promise<OrderAnswer> {
  return orderOf(await order(client, items, idempotencyKey).expect(201));
}

/** Returns `data.order` of a response. */
export function orderOf({ body }: Pick<Response, 'body'>): OrderAnswer {
  return (body as { data: { order: OrderAnswer } }).data.order;
}

export function pageOf({ body }: Pick<Response, 'body'>): OrderPage {
  return (body as { data: OrderPage }).data;
}

export async function readOrder(client: Client, orderId: string): Promise<OrderAnswer> {
  return orderOf(await client.get(`${ORDERS}/${orderId}`).expect(200));
}

/** Returns the id of the account of a client. */
export function userIdOf(client: Client): number {
  return Number(decodeClaims(client.cookie('accessToken')).tokenId);
}

/** Returns the stored payment attempts of an order, oldest first. */
export async function attemptsOf({ database }: TestService, orderId: string) {
  const { rows } = await database.pool.query<{
    attempt_id: string;
    number: number;
    is_claimed: boolean;
    token: string | null;
  }>(
    `SELECT attempt_id, number, claimed_at IS NOT NULL AS is_claimed, token
     FROM payment_attempts WHERE order_id = $1 ORDER BY number`,
    [orderId],
  );
  return rows;
}

/** Returns the ids of all orders of a client's account, newest first. */
export async function orderIdsOf({ database }: TestService, client: Client): Promise<string[]> {
  const { rows } = await database.pool.query<{ order_id: string }>(
    'SELECT order_id FROM orders WHERE user_id = $1 ORDER BY created_at DESC, order_id DESC',
    [userIdOf(client)],
  );
  return rows.map(({ order_id }) => order_id);
}

/**
 * Inserts orders with one item each by SQL. Their creation times are a second apart.
 * @returns the ids of the orders, newest first
 */
export async function insertOrders(
  { database }: TestService,
  client: Client,
  count: number,
  status = 'pending',
): Promise<string[]> {
  const { rows } = await database.pool.query<{ order_id: string }>(
    `WITH made AS (
       INSERT INTO orders (order_id, user_id, status, gross_amount, created_at)
       SELECT gen_random_uuid(), $1, $3, n, now() - make_interval(secs => $2 - n) FROM generate_series(1, $2) AS n
       RETURNING order_id, gross_amount, created_at
     ), items AS (
       INSERT INTO order_items (order_id, position, product_id, name, price, quantity)
       SELECT order_id, 0, 1, 'Bread ' || gross_amount, gross_amount, 1 FROM made
     )
     SELECT order_id FROM made ORDER BY created_at DESC, order_id DESC`,
    [userIdOf(client), count, status],
  );
  return rows.map(({ order_id }) => order_id);
}

/** Pays at the gateway and sends the notification. @param gatewayId id of the payment at the gateway */
export async function pay(shop: ServiceWithGateway, gatewayId: string): Promise<void> {
  shop.gateway.settle(gatewayId);
  const { status, text } = await shop.gateway.notify(`${shop.url}${NOTIFICATIONS_PATH}`, gatewayId);
  expect({ status, text }).toEqual({ status: 200, text: '' });
}

/** Asserts that the gateway accepted every request. */
export function expectNoRejectedCall({ gateway }: ServiceWithGateway): void {
  expect(gateway.calls.filter(({ status, authorized }) => status !== 201 || authorized !== true)).toEqual([]);
}
