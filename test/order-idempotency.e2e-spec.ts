import { randomUUID } from 'node:crypto';
import type { Response } from 'supertest';
import type { Client } from './support/client.js';
import { buildValidationFailure, GATEWAY_AWAY, KEY_REUSED } from './support/failure.js';
import {
  addProduct,
  type NewItem,
  orderOf,
  placeOrder,
  readOrder,
  requestOrder,
  startServiceWithGateway,
} from './support/orders.js';
import { useShop } from './support/shop.js';
import { startBeforeTests } from './support/start-before-tests.js';
import { until } from './support/wait.js';

const shop = useShop();
/** Second process of the service, with the same database and the same gateway. */
const secondProcess = startBeforeTests(
  () => startServiceWithGateway({ database: shop.service.database, gateway: shop.gateway }),
  (service) => service.stop(),
);
let customer: Client;
let items: NewItem[];
let key: string;

beforeEach(async () => {
  customer = await shop.service.customer();
  items = [{ product_id: await addProduct(shop.service), quantity: 2 }];
  key = randomUUID();
});

/** Sends the same order with the same key several times in parallel, alternately to both processes. */
function orderInParallel(count: number): Promise<Response>[] {
  const atSecond = secondProcess.client().setCookie('accessToken', customer.cookie('accessToken'));
  return Array.from({ length: count }, async (_, n) =>
    requestOrder((n % 2 === 0 ? customer : atSecond).clone(), items, key),
  );
}

/** Asserts that one gateway call produced all responses, which are equal and have status 201. */
function expectOneOrder(responses: readonly Response[]): void {
  expect(responses[0]?.status).toBe(201);
  expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(shop.gateway.calls).toHaveLength(1);
}

/** Blocks calls to the gateway until the returned function is called. */
function blockGateway(): () => void {
  let unblock: () => void = () => undefined;
  const blocked = new Promise<void>((resolve) => (unblock = resolve));
  shop.gateway.beforeProcessing = () => blocked;
  return unblock;
}

/** Waits until the first request calls the gateway. @returns the id of its order */
async function waitForGatewayCall(): Promise<string> {
  await until('the gateway was called', () => shop.gateway.calls.length === 1);
  const [orderId = ''] = await shop.readOrderIds(customer);
  return orderId;
}

describe('parallel requests with one Idempotency-Key', () => {
  it('create one order with one gateway call, and 50 requests at two processes get equal responses 201', async () => {
    expectOneOrder(await Promise.all(orderInParallel(50)));
    const [orderId = '', ...others] = await shop.readOrderIds(customer);
    expect(others).toEqual([]);
    shop.expectNoRejectedCall();
    const { rows } = await shop.service.database.pool.query('SELECT 1 FROM order_items WHERE order_id = $1', [
      orderId,
    ]);
    expect(rows).toHaveLength(1);
  });

  it('wait for the gateway call of the first request without locking the order, and get the same response', async () => {
    const unblock = blockGateway();
    const first = orderInParallel(1);
    const orderId = await waitForGatewayCall();
    const retries = orderInParallel(2);
    expect(await readOrder(customer, orderId)).toMatchObject({ status: 'pending', token: null });
    expect(await shop.readAttempts(orderId)).toMatchObject([{ attempt_id: orderId, is_claimed: true }]);
    unblock();
    expectOneOrder(await Promise.all([...first, ...retries]));
  });

  it('wait for a gateway call of 3 seconds instead of getting 502', async () => {
    shop.gateway.fault({ operation: 'create', kind: 'late', afterMs: 3_000 });
    expectOneOrder(await Promise.all(orderInParallel(3)));
  });

  it('get the same 502 if the gateway returns no payment page to the first request', async () => {
    shop.gateway.fault({ operation: 'create', kind: 'error' });
    const unblock = blockGateway();
    const requests = orderInParallel(4);
    await waitForGatewayCall();
    unblock();
    for (const { status, body } of await Promise.all(requests))
      expect([status, body]).toEqual([502, GATEWAY_AWAY]);
    expect(await shop.readOrderIds(customer)).toHaveLength(1);
  });

  it('get one 201 and one 409 if their bodies differ', async () => {
    const responses = await Promise.all([
      requestOrder(customer.clone(), items, key),
      requestOrder(customer.clone(), [{ product_id: items[0]?.product_id, quantity: 9 }], key),
    ]);
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect(responses.find(({ status }) => status === 409)?.body).toEqual(KEY_REUSED);
    expect(await shop.readOrderIds(customer)).toHaveLength(1);
  });
});

describe('an Idempotency-Key', () => {
  it('that was used with another quantity or other products gets 409', async () => {
    const created = await placeOrder(customer, items, key);
    const withProduct = [...items, { product_id: 1, quantity: 1 }];
    for (const changed of [[{ ...items[0], quantity: 3 }], withProduct])
      expect((await requestOrder(customer, changed, key).expect(409)).body).toEqual(KEY_REUSED);
    expect(await shop.readOrderIds(customer)).toEqual([created.order_id]);
    expect(shop.gateway.calls).toHaveLength(1);
  });

  it('creates one order for each user and each spelling of the key, and each request without a key creates another order', async () => {
    const other = await shop.service.customer();
    await Promise.all([
      placeOrder(other, items, key),
      placeOrder(customer, items),
      placeOrder(customer, items),
      placeOrder(customer, items, key),
      placeOrder(customer, items, key.toUpperCase()),
    ]);
    expect(await shop.readOrderIds(customer)).toHaveLength(4);
    expect(await shop.readOrderIds(other)).toHaveLength(1);
    shop.expectNoRejectedCall();
  });

  it.each([
    ['empty', ''],
    ['longer than 255 characters', 'k'.repeat(256)],
  ])('that is %s is reported with 400, together with invalid items', async (_key, invalidKey) => {
    const details = { 'idempotency-key': 'Idempotency-Key should have 1 to 255 characters' };
    expect((await requestOrder(customer, items, invalidKey).expect(400)).body).toEqual(
      buildValidationFailure(details),
    );
    const ofItems = { items: 'items should be a list of 1 to 50 different products' };
    const response = await requestOrder(customer, [], invalidKey).expect(400);
    expect(response.body).toEqual(buildValidationFailure({ ...ofItems, ...details }));
  });
});

describe('a repeated request with the same key and body', () => {
  it('returns a paid order with its status and without a payment page, also for a key of 255 characters', async () => {
    key = 'k'.repeat(255);
    const created = await placeOrder(customer, items, key);
    await shop.report(created.order_id, 'settlement');
    const repeated = await placeOrder(customer, items, key);
    expect(repeated).toMatchObject({ order_id: created.order_id, status: 'settlement', token: null });
    expect(repeated).toEqual(await readOrder(customer, created.order_id));
    expect(shop.gateway.listCalls('create')).toHaveLength(1);
  });

  it('returns no payment page if the order was cancelled during the gateway call', async () => {
    const unblock = blockGateway();
    const requests = orderInParallel(1);
    const order_id = await waitForGatewayCall();
    await shop.query("UPDATE orders SET status = 'cancel' WHERE order_id = $1", [order_id]);
    unblock();
    const [response] = await Promise.all(requests);
    expect(response?.status).toBe(201);
    const shown = orderOf(response ?? { body: null });
    expect(shown).toMatchObject({ order_id, status: 'cancel', token: null, redirect_url: null });
  });
});
