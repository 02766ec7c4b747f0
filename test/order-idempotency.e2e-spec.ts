import { randomUUID } from 'node:crypto';
import type { Client } from './support/client.js';
import { createDatabase, type TestDatabase } from './support/databases.js';
import {
  addProduct,
  attemptsOf,
  expectNoRefusedCall,
  GATEWAY_AWAY,
  KEY_REUSED,
  type NewItem,
  order,
  orderIdsOf,
  orderOf,
  pay,
  placeOrder,
  readOrder,
  type ServiceWithGateway,
  startServiceWithGateway,
} from './support/orders.js';
import { fail } from './support/products.js';
import { until } from './support/wait.js';

const AT_ONCE = 50;

describe('Idempotency-Key', () => {
  let database: TestDatabase;
  /** Two processes of the service that share one database and one gateway. */
  let shop: ServiceWithGateway;
  let branch: ServiceWithGateway;
  let customer: Client;
  let items: NewItem[];
  let key: string;

  beforeAll(async () => {
    database = await createDatabase();
    shop = await startServiceWithGateway({ database });
    branch = await startServiceWithGateway({ database, gateway: shop.gateway });
  });

  beforeEach(async () => {
    customer = await shop.customer();
    items = [{ product_id: await addProduct(shop), quantity: 2 }];
    key = randomUUID();
    shop.gateway.calls.length = 0;
  });

  afterEach(() => {
    shop.gateway.beforeProcessing = undefined;
    shop.gateway.clearFaults();
  });

  afterAll(async () => {
    await branch.stop();
    await shop.stop();
    await database.drop();
  });

  /** Client of the same customer at the other process. */
  function atBranch(): Client {
    return branch.client().setCookie('accessToken', customer.cookie('accessToken'));
  }

  /** Blocks calls to the gateway until the returned function is called. */
  function holdGateway(): () => void {
    let letGo: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    shop.gateway.beforeProcessing = () => held;
    return letGo;
  }

  it('50 parallel requests with one key at two processes create one order with one gateway call and get equal responses 201', async () => {
    const branchCustomer = atBranch();
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, n) =>
        order((n % 2 === 0 ? customer : branchCustomer).clone(), items, key),
      ),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(201);
    const [orderId = '', ...others] = await orderIdsOf(shop, customer);
    expect(others).toEqual([]);
    expect(shop.gateway.calls).toHaveLength(1);
    expectNoRefusedCall(shop);
    const { rows } = await database.pool.query('SELECT 1 FROM order_items WHERE order_id = $1', [orderId]);
    expect(rows).toHaveLength(1);
  });

  it('a retry while the first request waits for the gateway gets the same response', async () => {
    const letGo = holdGateway();
    const first = order(customer.clone(), items, key).then((answer) => answer);
    await until('the gateway was asked', () => shop.gateway.calls.length === 1);
    const later = [customer.clone(), atBranch()].map((client) =>
      order(client, items, key).then((answer) => answer),
    );
    // Meanwhile the order is not locked: customers can read the order and create others.
    const [orderId = ''] = await orderIdsOf(shop, customer);
    expect(await readOrder(customer, orderId)).toMatchObject({ status: 'pending', token: null });
    expect(await attemptsOf(shop, orderId)).toMatchObject([{ attempt_id: orderId, is_claimed: true }]);
    letGo();
    const answers = await Promise.all([first, ...later]);
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(shop.gateway.calls).toHaveLength(1);
  });

  it('a retry during a gateway call of 3 seconds waits for the response instead of getting 502', async () => {
    shop.gateway.fault({ operation: 'create', kind: 'late', afterMs: 3_000 });
    const answers = await Promise.all(
      [customer.clone(), customer.clone(), atBranch()].map((client) => order(client, items, key)),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(shop.gateway.calls).toHaveLength(1);
  });

  it('retries that wait for a request without a payment page get the same 502', async () => {
    shop.gateway.fault({ operation: 'create', kind: 'error' });
    const letGo = holdGateway();
    const answers = [customer.clone(), customer.clone(), atBranch(), atBranch()].map((client) =>
      order(client, items, key).then((answer) => answer),
    );
    await until('the gateway was asked', () => shop.gateway.calls.length === 1);
    await until('the order is there', async () => (await orderIdsOf(shop, customer)).length === 1);
    letGo();
    const settled = await Promise.all(answers);
    expect(settled.map(({ status, body }) => [status, body as unknown])).toEqual(
      settled.map(() => [502, GATEWAY_AWAY]),
    );
    expect(await orderIdsOf(shop, customer)).toHaveLength(1);
  });

  it.each<[string, (items: NewItem[]) => NewItem[]]>([
    ['another quantity', ([item]) => [{ product_id: item?.product_id ?? 0, quantity: 3 }]],
    ['one product more', (same) => [...same, { product_id: 1, quantity: 1 }]],
  ])('a known key with %s gets 409', async (_what, change) => {
    const created = await placeOrder(customer, items, key);
    const answer = await order(customer, change(items), key).expect(409);
    expect(answer.body).toEqual(KEY_REUSED);
    expect(await orderIdsOf(shop, customer)).toEqual([created.order_id]);
    expect(shop.gateway.calls).toHaveLength(1);
  });

  it('two parallel requests with one key and different bodies get one 201 and one 409', async () => {
    const answers = await Promise.all([
      order(customer.clone(), items, key),
      order(customer.clone(), [{ product_id: items[0]?.product_id ?? 0, quantity: 9 }], key),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect(answers.find(({ status }) => status === 409)?.body).toEqual(KEY_REUSED);
    expect(await orderIdsOf(shop, customer)).toHaveLength(1);
  });

  it('another key, no key, and the same key of another user create separate orders', async () => {
    const other = await shop.customer();
    await Promise.all([
      placeOrder(other, items, key),
      placeOrder(customer, items),
      placeOrder(customer, items),
      placeOrder(customer, items, key),
      placeOrder(customer, items, key.toUpperCase()),
    ]);
    expect(await orderIdsOf(shop, customer)).toHaveLength(4);
    expect(await orderIdsOf(shop, other)).toHaveLength(1);
    expectNoRefusedCall(shop);
  });

  it.each([
    ['empty', ''],
    ['of 256 characters', 'k'.repeat(256)],
  ])('a key that is %s gets 400, together with invalid items', async (_what, bad) => {
    const details = { 'idempotency-key': 'Idempotency-Key should have 1 to 255 characters' };
    const answer = await order(customer, items, bad).expect(400);
    expect(answer.body).toEqual(fail(400, 'validation error', details));
    const both = await order(customer, [], bad).expect(400);
    const ofItems = { items: 'items should be a list of 1 to 50 different products' };
    expect(both.body).toEqual(fail(400, 'validation error', { ...ofItems, ...details }));
    expect(await orderIdsOf(shop, customer)).toEqual([]);
  });

  describe('the same key and body return the same order', () => {
    it('after its price changed, with a key of 255 characters', async () => {
      key = 'k'.repeat(255);
      const created = await placeOrder(customer, items, key);
      await database.pool.query("UPDATE products SET price = 99, name = 'Stale bread' WHERE id = $1", [
        items[0]?.product_id,
      ]);
      expect(await placeOrder(customer, items, key)).toEqual(created);
      expect(shop.gateway.calls).toHaveLength(1);
    });

    it('after it was paid, with its status and without a payment page', async () => {
      const created = await placeOrder(customer, items, key);
      await pay(shop, created.order_id);
      const again = await placeOrder(customer, items, key);
      expect(again).toMatchObject({ order_id: created.order_id, status: 'settlement', token: null });
      expect(again).toEqual(await readOrder(customer, created.order_id));
      expect(shop.gateway.callsOf('create')).toHaveLength(1);
    });

    it('when it is cancelled during the gateway call, without a payment page', async () => {
      const letGo = holdGateway();
      const first = order(customer.clone(), items, key).then((answer) => answer);
      await until('the gateway was asked', () => shop.gateway.calls.length === 1);
      const [orderId = ''] = await orderIdsOf(shop, customer);
      await database.pool.query("UPDATE orders SET status = 'cancel' WHERE order_id = $1", [orderId]);
      letGo();
      const answer = await first;
      expect(answer.status).toBe(201);
      expect(orderOf(answer)).toMatchObject({
        order_id: orderId,
        status: 'cancel',
        token: null,
        redirect_url: null,
      });
    });
  });
});
