import type { Response, Test } from 'supertest';
import type { Client } from './support/client.js';
import { GATEWAY_AWAY, NOT_PENDING } from './support/failure.js';
import {
  addProduct,
  type NewItem,
  orderOf,
  ORDERS,
  placeOrder,
  readOrder,
  requestOrder,
} from './support/orders.js';
import { useShop } from './support/shop.js';

const shop = useShop();
let customer: Client;
let items: NewItem[];

beforeAll(async () => {
  items = [{ product_id: await addProduct(shop.service), quantity: 2 }];
});

beforeEach(async () => {
  customer = await shop.service.customer();
});

function requestToken(orderId: string): Test {
  return customer.clone().post(`${ORDERS}/${orderId}/token`);
}

/** Returns the payment page in a response to `requestToken`. */
function paymentPageOf({ body }: Pick<Response, 'body'>): { token: string; redirect_url: string } {
  return (body as { data: { token: string; redirect_url: string } }).data;
}

/** Stores an order that has no payment attempt. @returns the order id */
async function storeOrder(): Promise<string> {
  const [orderId = ''] = await shop.insertOrdersWithoutPayment(customer, 1);
  return orderId;
}

async function claimAttempt(orderId: string, secondsAgo: number): Promise<void> {
  await shop.query(
    `INSERT INTO payment_attempts (attempt_id, order_id, number, claim_id, claimed_at)
     VALUES ($1, $1, 1, gen_random_uuid(), now() - make_interval(secs => $2))`,
    [orderId, secondsAgo],
  );
}

async function expirePage(orderId: string): Promise<void> {
  const change = "UPDATE payment_attempts SET expires_at = now() - interval '1 second' WHERE order_id = $1";
  await shop.query(change, [orderId]);
}

describe('the payment page of an order', () => {
  it('is returned again without a gateway call until it expires', async () => {
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
    'is missing with 502 if the gateway %s, and a retry opens one page on which the order can be paid',
    async (_fault, kind, isKnown) => {
      shop.gateway.fault({ operation: 'create', kind, nth: 1 });
      expect((await requestOrder(customer, items, 'once').expect(502)).body).toEqual(GATEWAY_AWAY);
      const [orderId = ''] = await shop.readOrderIds(customer);
      expect(await readOrder(customer, orderId)).toMatchObject({ status: 'pending', token: null });
      expect(shop.gateway.orders.has(orderId)).toBe(isKnown);

      const [repeated, token] = await Promise.all([
        requestOrder(customer.clone(), items, 'once').expect(201),
        requestToken(orderId).expect(200),
      ]);
      const page = paymentPageOf(token);
      expect(orderOf(repeated)).toMatchObject({ order_id: orderId, status: 'pending', ...page });
      expect(await shop.readOrderIds(customer)).toEqual([orderId]);
      // The gateway gets the order's id, or a new id if the gateway already knows the order's id.
      const gatewayId = (await shop.readAttempts(orderId)).at(-1)?.attempt_id ?? '';
      expect(gatewayId === orderId).toBe(!isKnown);
      expect(shop.gateway.order(gatewayId).token).toBe(page.token);
      await shop.report(gatewayId, 'settlement');
      expect(await readOrder(customer, orderId)).toMatchObject({ status: 'settlement', token: null });
    },
  );

  it('is not shown after it expired, and 20 parallel requests get one new page, which can be paid', async () => {
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
    shop.expectNoRejectedCall();
    const [first, second, ...more] = await shop.readAttempts(created.order_id);
    expect(more).toEqual([]);
    expect(first).toMatchObject({ attempt_id: created.order_id, token: created.token });
    expect(second).toMatchObject({ number: 2, token: page.token, is_claimed: false });

    await shop.report(second?.attempt_id ?? '', 'settlement');
    expect(await readOrder(customer, created.order_id)).toMatchObject({ status: 'settlement', token: null });
  });

  it.each(['settlement', 'expire', 'authorize'])(
    'is neither shown nor opened for an order with the status %s, which gets 409',
    async (status) => {
      const created = await placeOrder(customer, items);
      const change = 'UPDATE orders SET status = $2 WHERE order_id = $1';
      await shop.query(change, [created.order_id, status]);
      expect((await requestToken(created.order_id).expect(409)).body).toEqual(NOT_PENDING);
      const withoutPage = { ...created, status, token: null, redirect_url: null };
      expect(await readOrder(customer, created.order_id)).toEqual(withoutPage);
      expect(shop.gateway.calls).toHaveLength(1);
    },
  );

  it('is not returned if the order is paid while another page is opened at the gateway: 409', async () => {
    const created = await placeOrder(customer, items);
    await expirePage(created.order_id);
    shop.gateway.beforeProcessing = async () => {
      shop.gateway.beforeProcessing = undefined;
      await shop.report(created.order_id, 'settlement');
    };
    expect((await requestToken(created.order_id).expect(409)).body).toEqual(NOT_PENDING);
  });

  describe('while it is claimed by a process that died during its gateway call', () => {
    it.each([0, 7])(
      'other requests get 502 within 6 seconds and do not call the gateway: %d seconds after the claim',
      async (secondsAgo) => {
        const orderId = await storeOrder();
        await claimAttempt(orderId, secondsAgo);
        const startedAt = performance.now();
        const responses = await Promise.all([1, 2, 3].map(() => requestToken(orderId).expect(502)));
        expect(performance.now() - startedAt).toBeLessThan(6_000);
        for (const { body } of responses) expect(body).toEqual(GATEWAY_AWAY);
        expect(shop.gateway.calls).toEqual([]);
        expect(await shop.readAttempts(orderId)).toMatchObject([{ attempt_id: orderId, is_claimed: true }]);
      },
    );

    it('one of 20 requests takes over after 10 seconds and opens the page', async () => {
      const orderId = await storeOrder();
      await claimAttempt(orderId, 11);
      const [response = { body: null }] = await Promise.all(
        Array.from({ length: 20 }, () => requestToken(orderId).expect(200)),
      );
      expect(shop.gateway.calls).toHaveLength(1);
      const { token } = paymentPageOf(response);
      expect(await shop.readAttempts(orderId)).toMatchObject([
        { attempt_id: orderId, token, is_claimed: false },
      ]);
    });
  });

  it.each([false, true])(
    'is not returned by a process that loses its claim during its gateway call, and the new claim stays (response lost: %s)',
    async (isLost) => {
      const orderId = await storeOrder();
      shop.gateway.beforeProcessing = async () => {
        shop.gateway.beforeProcessing = undefined;
        const change =
          'UPDATE payment_attempts SET claim_id = gen_random_uuid(), claimed_at = now() WHERE attempt_id = $1';
        await shop.query(change, [orderId]);
      };
      if (isLost) shop.gateway.fault({ operation: 'create', kind: 'answer-lost' });
      expect((await requestToken(orderId).expect(502)).body).toEqual(GATEWAY_AWAY);
      expect(shop.gateway.beforeProcessing).toBeUndefined();
      expect(await shop.readAttempts(orderId)).toEqual([
        { attempt_id: orderId, number: 1, is_claimed: true, token: null },
      ]);
    },
  );

  it('is requested only once more with a new id if the gateway reports the id as already used: the response is 502 if the new id is used too', async () => {
    const body = { error_messages: ['transaction_details.order_id has already been taken'] };
    shop.gateway.fault({ operation: 'create', kind: 'answer', status: 400, body });
    expect((await requestOrder(customer, items).expect(502)).body).toEqual(GATEWAY_AWAY);
    const [orderId = ''] = await shop.readOrderIds(customer);
    expect(await shop.readAttempts(orderId)).toMatchObject([{ number: 1 }, { number: 2, is_claimed: false }]);
    expect(shop.gateway.calls).toHaveLength(2);
  });

  it.each([
    [401, 'Access denied due to unauthorized transaction, please check client or server key'],
    [400, 'customer_details.email format is invalid'],
  ])(
    'is opened by a later request if the gateway rejects it with %d "%s", which is logged and adds no payment attempt',
    async (status, message) => {
      const body = { error_messages: [message] };
      shop.gateway.fault({ operation: 'create', kind: 'answer', status, body });
      expect((await requestOrder(customer, items).expect(502)).body).toEqual(GATEWAY_AWAY);
      const [orderId = ''] = await shop.readOrderIds(customer);
      await Promise.all([1, 2, 3].map(() => requestToken(orderId).expect(502)));
      expect(await shop.readAttempts(orderId)).toEqual([
        { attempt_id: orderId, number: 1, is_claimed: false, token: null },
      ]);

      const lines = shop.service.log.filter(
        ({ level, msg }) => level === 'error' && String(msg).includes(orderId),
      );
      expect(lines.length).toBeGreaterThanOrEqual(2);
      expect(String(lines[0]?.msg)).toContain(status === 401 ? 'MIDTRANS_SERVER_KEY' : message);
      expect(JSON.stringify(shop.service.log)).not.toContain(shop.gateway.serverKey);

      shop.gateway.clearFaults();
      const page = paymentPageOf(await requestToken(orderId).expect(200));
      expect(page.token).toBe(shop.gateway.order(orderId).token);
    },
  );
});
