import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Response } from 'supertest';
import type { Client } from './support/client.js';
import { sendDuringTransaction } from './support/databases.js';
import { expectFailure, expectInvalid, MESSAGES } from './support/failure.js';
import { gatewaySettings, type NewItem, placeOrder, readOrder, requestOrder } from './support/orders.js';
import { insertProduct } from './support/products.js';
import { useService } from './support/service.js';
import { useShop } from './support/shop.js';
import { createDeferred, inParallel, until } from './support/wait.js';

const shop = await useShop();
/** Second service on the same database and gateway. It behaves like the service of another process. */
const secondProcess = await useService({
  database: shop.service.database,
  settings: gatewaySettings(shop.gateway),
});
let customer: Client;
let items: NewItem[];
let key: string;

beforeEach(async () => {
  customer = await shop.service.customer();
  items = [{ product_id: await insertProduct(shop.service), quantity: 2 }];
  key = randomUUID();
});

/** Sends the same order with the same key several times in parallel, alternately to both processes. */
function orderInParallel(count: number): Promise<Response[]> {
  return inParallel(count, (n) =>
    requestOrder(customer.clone((n % 2 === 0 ? shop.service : secondProcess).url), items, key),
  );
}

/** Blocks creations of payment pages at the gateway until the returned function is called. */
function blockCreations(): () => void {
  const { promise, resolve } = createDeferred();
  shop.gateway.beforeProcessing = ({ operation }) => (operation === 'create' ? promise : undefined);
  return resolve;
}

/** Waits until the first request calls the gateway. Returns the id of its order. */
async function waitForGatewayCall(): Promise<string> {
  await until('the gateway was called', () => shop.gateway.calls.length === 1);
  const [orderId = ''] = await shop.readStoredOrderIds(customer);
  return orderId;
}

describe('parallel requests with one Idempotency-Key', () => {
  it.each([
    ['at once', 0],
    ['after 500 ms', 500],
  ])('create one order and get equal responses if the gateway responds %s', async (_when, delayMs) => {
    shop.gateway.beforeResponse = () => delay(delayMs);
    const responses = await orderInParallel(50);
    expect(responses.map(({ status }) => status)).toEqual(Array(50).fill(201));
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expect(shop.gateway.calls).toHaveLength(1);
    expect(await shop.readStoredOrderIds(customer)).toHaveLength(1);
  });

  it('each get 502 while the gateway returns no payment page', async () => {
    shop.gateway.addFault({ operation: 'create', kind: 'error' });
    const unblock = blockCreations();
    const requests = orderInParallel(4);
    await waitForGatewayCall();
    unblock();
    for (const response of await requests) expectFailure(response, 502, MESSAGES.gatewayUnavailable);
    expect(await shop.readStoredOrderIds(customer)).toHaveLength(1);
  });

  it('get one 201 and one 409 if their bodies differ', async () => {
    const responses = await Promise.all([
      requestOrder(customer.clone(), items, key),
      requestOrder(customer.clone(), [{ product_id: items[0]?.product_id, quantity: 9 }], key),
    ]);
    const [created, rejected] = responses.sort((a, b) => a.status - b.status);
    expect(created.status).toBe(201);
    expectFailure(rejected, 409, MESSAGES.idempotencyKeyReused);
    expect(await shop.readStoredOrderIds(customer)).toHaveLength(1);
  });
});

describe('an Idempotency-Key', () => {
  it('is case-sensitive', async () => {
    await Promise.all([placeOrder(customer, items, key), placeOrder(customer, items, key.toUpperCase())]);
    expect(await shop.readStoredOrderIds(customer)).toHaveLength(2);
  });

  it('applies to one customer', async () => {
    const customers = [customer, await shop.service.customer()];
    await Promise.all(customers.map((each) => placeOrder(each, items, key)));
    for (const each of customers) expect(await shop.readStoredOrderIds(each)).toHaveLength(1);
  });

  it.each([
    ['empty', ''],
    ['longer than 255 characters', 'k'.repeat(256)],
  ])('that is %s is reported with 400, together with invalid items', async (_what, invalidKey) => {
    expectInvalid(await requestOrder(customer, [], invalidKey), {
      items: 'items should be a list of 1 to 50 different products',
      'idempotency-key': 'Idempotency-Key should have 1 to 255 characters',
    });
  });
});

it('a request gets 409 if a process without the lock of the customer, such as one of 1.2, stores its key meanwhile', async () => {
  const response = await sendDuringTransaction(
    shop.service.database,
    `INSERT INTO orders (order_id, user_id, gross_amount, idempotency_key)
     SELECT gen_random_uuid(), id, 1, '${key}' FROM users ORDER BY id DESC LIMIT 1`,
    () => requestOrder(customer, items, key),
  );
  expectFailure(response, 409, MESSAGES.idempotencyKeyReused);
});

it('a repeated request with a key of 255 characters returns a paid order without a payment page', async () => {
  key = 'k'.repeat(255);
  const created = await placeOrder(customer, items, key);
  await shop.setStatusAndNotify(created.order_id, 'settlement');
  const repeated = await placeOrder(customer, items, key);
  expect(repeated).toMatchObject({ order_id: created.order_id, status: 'settlement', token: null });
  expect(repeated).toEqual(await readOrder(customer, created.order_id));
  expect(shop.gateway.listCalls('create')).toHaveLength(1);
});

it('an order that is cancelled during the gateway call is returned with 201 and without a payment page', async () => {
  const unblock = blockCreations();
  const request = placeOrder(customer, items);
  const order_id = await waitForGatewayCall();
  expect(await readOrder(customer, order_id)).toMatchObject({ status: 'pending', token: null });
  await customer.post(`/api/orders/${order_id}/cancel`).expect(200);
  unblock();
  expect(await request).toMatchObject({ order_id, status: 'cancel', token: null, redirect_url: null });
});
