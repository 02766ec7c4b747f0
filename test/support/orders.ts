import type { Response } from 'supertest';
import type { components } from '../../client/schema.js';
import type { Client } from './client.js';
import type { MidtransStandIn } from './midtrans-stand-in.js';
import type { TestService } from './service.js';
import { decodeClaims } from './tokens.js';

type Schemas = components['schemas'];

export const ORDERS = '/api/orders';

export type NewItem = Schemas['NewOrderItemDto'];

/** Order in a response. The fields of AdminOrderView are present only for administrators. */
export type OrderBody = Schemas['OrderView'] & Partial<Schemas['AdminOrderView']>;

interface OrderPage {
  readonly meta: Schemas['OrderPageMeta'];
  readonly orders: readonly OrderBody[];
}

export function gatewaySettings(gateway: MidtransStandIn): Record<string, string> {
  return {
    PAYMENT_GATEWAY: 'midtrans',
    MIDTRANS_SERVER_KEY: gateway.serverKey,
    MIDTRANS_SNAP_URL: gateway.snapUrl,
    MIDTRANS_API_URL: gateway.apiUrl,
  };
}

/** Inserts a product by SQL. Returns its id. */
export async function addProduct(
  { database }: TestService,
  price: string | number = 25_000,
  name = 'Croissant',
): Promise<number> {
  const rows = await database.query<{ id: number }>(
    "INSERT INTO products (name, description, price) VALUES ($1, 'From today', $2) RETURNING id",
    [name, price],
  );
  return rows[0]?.id ?? 0;
}

/** Sends POST /api/orders. `fields`: further fields of the body; can also replace `items`. */
export function requestOrder(client: Client, items: unknown, idempotencyKey?: string, fields: object = {}) {
  const request = client.post(ORDERS);
  if (idempotencyKey !== undefined) void request.set('Idempotency-Key', idempotencyKey);
  return request.send({ items, ...fields });
}

/** Creates an order, which must succeed. */
export async function placeOrder(client: Client, items: readonly NewItem[], idempotencyKey?: string) {
  return orderOf(await requestOrder(client, items, idempotencyKey).expect(201));
}

export function orderOf({ body }: Pick<Response, 'body'>): OrderBody {
  return (body as { data: { order: OrderBody } }).data.order;
}

export function pageOf({ body }: Pick<Response, 'body'>): OrderPage {
  return (body as { data: OrderPage }).data;
}

export async function readOrder(client: Client, orderId: string): Promise<OrderBody> {
  return orderOf(await client.get(`${ORDERS}/${orderId}`).expect(200));
}

/** Returns the id of the account of a client, which is the claim `tokenId` in the client's tokens. */
export function userIdOf(client: Client): number {
  return Number(decodeClaims(client.cookie('accessToken')).tokenId);
}

export interface StoredOrder {
  readonly status: string;
  readonly completed_at: Date | null;
  readonly transaction_id: string | null;
  readonly payment_type: string | null;
  readonly fraud_status: string | null;
  readonly transaction_amount: string | null;
  /** Total of the order in whole rupiah, which no notification changes. */
  readonly gross_amount: string;
  /** PostgreSQL's version of the row: it changes with every update. */
  readonly xmin: string;
}

export async function readStoredOrder({ database }: Pick<TestService, 'database'>, orderId: string) {
  const rows = await database.query<StoredOrder>(
    `SELECT status, completed_at, transaction_id, payment_type, fraud_status, transaction_amount, gross_amount,
            xmin::text FROM orders WHERE order_id = $1`,
    [orderId],
  );
  if (rows[0] === undefined) throw new Error('there is no such order');
  return rows[0];
}
