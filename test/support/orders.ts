import type { Response } from 'supertest';
import type { components } from '../../client/schema.js';
import type { Client } from './client.js';
import type { MidtransStandIn } from './midtrans-stand-in.js';
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

/** Sends POST /api/orders. `fields`: further fields of the body; can also replace `items`. */
export function requestOrder(client: Client, items: unknown, idempotencyKey?: string, fields: object = {}) {
  const headers = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
  return client
    .post(ORDERS)
    .set(headers)
    .send({ items, ...fields });
}

/** Creates an order, which must succeed. */
export async function placeOrder(client: Client, items: readonly NewItem[], idempotencyKey?: string) {
  return orderOf(await requestOrder(client, items, idempotencyKey).expect(201));
}

export function orderOf({ body }: Pick<Response, 'body'>): OrderBody {
  return (body as { data: { order: OrderBody } }).data.order;
}

/** Returns the order of a response with the status 200. For another status, the assertion prints the body. */
export function expectOrder(response: Pick<Response, 'status' | 'body'>): OrderBody {
  const { status, body } = response as { status: number; body: unknown };
  expect({ status, body }).toMatchObject({ status: 200 });
  return orderOf({ body });
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
