import type { Response, Test } from 'supertest';
import type { Client } from './support/client.js';
import {
  addProduct,
  attemptsOf,
  expectNoRejectedCall,
  GATEWAY_AWAY,
  insertOrders,
  type NewItem,
  NOT_PENDING,
  order,
  orderIdsOf,
  orderOf,
  ORDERS,
  pay,
  placeOrder,
  readOrder,
  type ServiceWithGateway,
  startServiceWithGateway,
} from './support/orders.js';

let shop: ServiceWithGateway;
let customer: Client;
let items: NewItem[];

beforeAll(async () => {
  shop = await startServiceWithGateway();
  items = [{ product_id: await addProduct(shop), quantity: 2 }];
});

beforeEach(async () => {
  customer = await shop.customer();
  shop.gateway.calls.length = 0;
});

afterEach(() => {
  shop.gateway.clearFaults();
  shop.gateway.beforeProcessing = undefined;
});

afterAll(() => shop.stop());

function requestToken(orderId: string): Test {
  return customer.clone().post(`${ORDERS}/${orderId}/token`);
}

/** Returns the payment page in a response to `requestToken`. */
function paymentPageOf({ body }: Pick<Response, 'body'>): { token: string; redirect_url: string } {
  return (body as { data: { token: string; redirect_url: string } }).data;
}

/** Stores an order that has no payment attempt. @returns the order id */
async function storeOrder(): Promise<string> {
  const [orderId = ''] = await insertOrders(shop, customer, 1);
  return orderId;
}

async function claimAttempt(orderId: string, secondsAgo: number): Promise<void> {
  await shop.database.pool.query(
    `INSERT INTO payment_attempts (attempt_id, order_id, number, claim_id, claimed_at)
     VALUES ($1, $1, 1, gen_random_uuid(), now() - make_interval(secs => $2))`,
    [orderId, secondsAgo],
  );
}

async function expirePage(orderId: string): Promise<void> {
  const change = "UPDATE payment_attempts SET expires_at = now() - interval '1 second' WHERE order_id = $1";
  await shop.database.pool.query(change, [orderId]);
}

describe('the payment page of an order', () => {
  it('a live token is returned again without a gateway call', async () => {
    const created = await placeOrder(customer, items);
    const { token, redirect_url } = created;
    const response = await requestToken(created.order_id).expect(200);
    expect(response.body).toEqual({ status: 'success', data: { token, redirect_url } });
    expect(shop.gateway.calls).toHaveLength(1);
  });

  it.each([
    ['cuts the connection', 'down', false],
    ['sends an invalid response', 'garbage', true],
    ['loses its response', 'answer-lost', true],
  ] as const)(
    'a gateway that %s causes 502, and a retry gets the order one page on which it can be paid',
    async (_fault, kind, isTaken) => {
      shop.gateway.fault({ operation: 'create', kind, nth: 1 });
      expect((await order(customer, items, 'once').expect(502)).body).toEqual(GATEWAY_AWAY);
      const [orderId = ''] = await orderIdsOf(shop, customer);
      expect(await readOrder(customer, orderId)).toMatchObject({ status: 'pending', token: null });
      expect(shop.gateway.orders.has(orderId)).toBe(isTaken);

      const [repeated, token] = await Promise.all([
        order(customer.clone(), items, 'once').expect(201),
        requestToken(orderId).expect(200),
      ]);
      const page = paymentPageOf(token);
      expect(orderOf(repeated)).toMatchObject({ order_id: orderId, status: 'pending', ...page });
      expect(await orderIdsOf(shop, customer)).toEqual([orderId]);
      // The order's id, and a new id if the gateway already knows that one.
      const gatewayId = (await attemptsOf(shop, orderId)).at(-1)?.attempt_id ?? '';
      expect(gatewayId === orderId).toBe(!isTaken);
      expect(shop.gateway.order(gatewayId).token).toBe(page.token);
      await pay(shop, gatewayId);
      expect(await readOrder(customer, orderId)).toMatchObject({ status: 'settlement', token: null });
    },
  );

  it('an order with an expired page shows none, and 20 parallel requests get one new page, which can be paid', async () => {
    const created = await placeOrder(customer, items);
    await expirePage(created.order_id);
    const withoutPage = { ...created, token: null, redirect_url: null };
    expect(await readOrder(customer, created.order_id)).toEqual(withoutPage);

    const responses = await Promise.all(
      Array.from({ length: 20 }, () => requestToken(created.order_id).expect(200)),
    );
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    const page = paymentPageOf(responses[0] ?? { body: null });
    expect(page.token).not.toBe(created.token);
    expect(shop.gateway.calls).toHaveLength(2);
    expect(await readOrder(customer, created.order_id)).toEqual({ ...created, ...page });
    expectNoRejectedCall(shop);
    const [first, second, ...more] = await attemptsOf(shop, created.order_id);
    expect(more).toEqual([]);
    expect(first).toMatchObject({ attempt_id: created.order_id, token: created.token });
    expect(second).toMatchObject({ number: 2, token: page.token, is_claimed: false });

    await pay(shop, second?.attempt_id ?? '');
    expect(await readOrder(customer, created.order_id)).toMatchObject({ status: 'settlement', token: null });
  });

  it.each(['settlement', 'expire', 'authorize'])(
    'an order with the status %s gets 409, causes no gateway call and shows no page',
    async (status) => {
      const created = await placeOrder(customer, items);
      const change = 'UPDATE orders SET status = $2 WHERE order_id = $1';
      await shop.database.pool.query(change, [created.order_id, status]);
      expect((await requestToken(created.order_id).expect(409)).body).toEqual(NOT_PENDING);
      const withoutPage = { ...created, status, token: null, redirect_url: null };
      expect(await readOrder(customer, created.order_id)).toEqual(withoutPage);
      expect(shop.gateway.calls).toHaveLength(1);
    },
  );

  it('an order that is paid during the gateway call for another page gets 409 and no page', async () => {
    const created = await placeOrder(customer, items);
    await expirePage(created.order_id);
    shop.gateway.beforeProcessing = async () => {
      shop.gateway.beforeProcessing = undefined;
      await pay(shop, created.order_id);
    };
    expect((await requestToken(created.order_id).expect(409)).body).toEqual(NOT_PENDING);
  });

  describe('the claim of a process that died during its gateway call', () => {
    it.each([0, 7])(
      'blocks other requests for 10 seconds: %d seconds after the claim they get 502 within 6 seconds and do not call the gateway',
      async (secondsAgo) => {
        const orderId = await storeOrder();
        await claimAttempt(orderId, secondsAgo);
        const startedAt = performance.now();
        const responses = await Promise.all([1, 2, 3].map(() => requestToken(orderId).expect(502)));
        expect(performance.now() - startedAt).toBeLessThan(6_000);
        for (const { body } of responses) expect(body).toEqual(GATEWAY_AWAY);
        expect(shop.gateway.calls).toEqual([]);
        expect(await attemptsOf(shop, orderId)).toMatchObject([{ attempt_id: orderId, is_claimed: true }]);
      },
    );

    it('is taken over by one of 20 requests after 10 seconds', async () => {
      const orderId = await storeOrder();
      await claimAttempt(orderId, 11);
      const [response = { body: null }] = await Promise.all(
        Array.from({ length: 20 }, () => requestToken(orderId).expect(200)),
      );
      expect(shop.gateway.calls).toHaveLength(1);
      const { token } = paymentPageOf(response);
      expect(await attemptsOf(shop, orderId)).toMatchObject([
        { attempt_id: orderId, token, is_claimed: false },
      ]);
    });
  });

  it.each([false, true])(
    'a process that loses its claim during its gateway call returns no page and leaves the new claim unchanged (response lost: %s)',
    async (isLost) => {
      const orderId = await storeOrder();
      shop.gateway.beforeProcessing = async () => {
        shop.gateway.beforeProcessing = undefined;
        const change =
          'UPDATE payment_attempts SET claim_id = gen_random_uuid(), claimed_at = now() WHERE attempt_id = $1';
        await shop.database.pool.query(change, [orderId]);
      };
      if (isLost) shop.gateway.fault({ operation: 'create', kind: 'answer-lost' });
      expect((await requestToken(orderId).expect(502)).body).toEqual(GATEWAY_AWAY);
      expect(shop.gateway.beforeProcessing).toBeUndefined();
      expect(await attemptsOf(shop, orderId)).toEqual([
        { attempt_id: orderId, number: 1, is_claimed: true, token: null },
      ]);
    },
  );

  it('a gateway that reports every id as already used gets one new id per request', async () => {
    const body = { error_messages: ['transaction_details.order_id has already been taken'] };
    shop.gateway.fault({ operation: 'create', kind: 'answer', status: 400, body });
    expect((await order(customer, items).expect(502)).body).toEqual(GATEWAY_AWAY);
    const [orderId = ''] = await orderIdsOf(shop, customer);
    expect(await attemptsOf(shop, orderId)).toMatchObject([{ number: 1 }, { number: 2, is_claimed: false }]);
    expect(shop.gateway.calls).toHaveLength(2);
  });

  it.each([
    [401, 'Access denied due to unauthorized transaction, please check client or server key'],
    [400, 'customer_details.email format is invalid'],
  ])(
    'a rejection with %d %s is logged and uses no attempt, and a request after the fix gets a page',
    async (status, message) => {
      const body = { error_messages: [message] };
      shop.gateway.fault({ operation: 'create', kind: 'answer', status, body });
      expect((await order(customer, items).expect(502)).body).toEqual(GATEWAY_AWAY);
      const [orderId = ''] = await orderIdsOf(shop, customer);
      await Promise.all([1, 2, 3].map(() => requestToken(orderId).expect(502)));
      expect(await attemptsOf(shop, orderId)).toEqual([
        { attempt_id: orderId, number: 1, is_claimed: false, token: null },
      ]);

      const lines = shop.log.filter(({ level, msg }) => level === 'error' && String(msg).includes(orderId));
      expect(lines.length).toBeGreaterThanOrEqual(2);
      expect(String(lines[0]?.msg)).toContain(status === 401 ? 'MIDTRANS_SERVER_KEY' : message);
      expect(JSON.stringify(shop.log)).not.toContain(shop.gateway.serverKey);

      shop.gateway.clearFaults();
      const page = paymentPageOf(await requestToken(orderId).expect(200));
      expect(page.token).toBe(shop.gateway.order(orderId).token);
    },
  );
});
