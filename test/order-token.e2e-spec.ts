import type { Test } from 'supertest';
import type { Client } from './support/client.js';
import { expectFailure, MESSAGES } from './support/failure.js';
import { type NewItem, ORDERS, placeOrder, readOrder, requestOrder } from './support/orders.js';
import { useShop } from './support/shop.js';
import { inParallel } from './support/wait.js';

const shop = await useShop();
let customer: Client;
let items: NewItem[];

beforeEach(async () => {
  customer = await shop.service.customer();
  items = [{ product_id: shop.productId, quantity: 2 }];
});

function requestToken(orderId: string): Test {
  return customer.clone().post(`${ORDERS}/${orderId}/token`);
}

/** Opens the payment page of an order, or gets the page that is already open. */
async function openPage(orderId: string): Promise<{ token: string; redirect_url: string }> {
  const response = await requestToken(orderId).expect(200);
  return (response.body as { data: { token: string; redirect_url: string } }).data;
}

/** Stores that a process took the lease of the payment attempt for a call to the gateway, without a result since then. */
async function storeLease(orderId: string, secondsAgo: number): Promise<void> {
  await shop.query(
    `UPDATE payment_attempts SET claim_id = gen_random_uuid(), claimed_at = now() - make_interval(secs => $2)
     WHERE attempt_id = $1`,
    [orderId, secondsAgo],
  );
}

async function expirePage(orderId: string): Promise<void> {
  const change = "UPDATE payment_attempts SET expires_at = now() - interval '1 second' WHERE order_id = $1";
  await shop.query(change, [orderId]);
}

describe('the payment page of an order', () => {
  it.each([
    ['cuts the connection', 'disconnect', false],
    ['sends an invalid response', 'garbage', true],
    ['loses its response', 'response-lost', true],
  ] as const)(
    'is opened once by parallel retries after the gateway %s',
    async (_fault, kind, gatewayKnowsOrder) => {
      shop.gateway.addFault({ operation: 'create', kind, nth: 1 });
      expectFailure(await requestOrder(customer, items, 'same-key'), 502, MESSAGES.gatewayUnavailable);
      const [orderId = ''] = await shop.readStoredOrderIds(customer);
      expect(await readOrder(customer, orderId)).toMatchObject({ status: 'pending', token: null });
      expect(shop.gateway.orders.has(orderId)).toBe(gatewayKnowsOrder);

      const [repeated, page] = await Promise.all([
        placeOrder(customer.clone(), items, 'same-key'),
        openPage(orderId),
      ]);
      expect(repeated).toMatchObject({ order_id: orderId, status: 'pending', ...page });
      expect(await shop.readStoredOrderIds(customer)).toEqual([orderId]);
      // The first attempt has the id of the order. If the gateway already knows that id, the next attempt has a new one.
      const attemptId = (await shop.readAttempts(orderId)).at(-1)?.attempt_id ?? '';
      expect(attemptId === orderId).toBe(!gatewayKnowsOrder);
      expect(shop.gateway.order(attemptId).token).toBe(page.token);
      await shop.setStatusAndNotify(attemptId, 'settlement');
      expect(await readOrder(customer, orderId)).toMatchObject({ status: 'settlement', token: null });
    },
  );

  it('is returned again until it expires; then it is not shown, and 20 parallel requests get one new page, on which the order can be paid', async () => {
    const created = await placeOrder(customer, items);
    const { token, redirect_url } = created;
    expect(await openPage(created.order_id)).toEqual({ token, redirect_url });
    await expirePage(created.order_id);
    const withoutPage = { ...created, token: null, redirect_url: null };
    expect(await readOrder(customer, created.order_id)).toEqual(withoutPage);

    const pages = await inParallel(20, () => openPage(created.order_id));
    const shown = await readOrder(customer, created.order_id);
    expect(shown.token).not.toBe(created.token);
    expect(shown).toEqual({ ...created, token: shown.token, redirect_url: shown.redirect_url });
    for (const page of pages) expect(shown).toMatchObject(page);
    expect(shop.gateway.calls).toHaveLength(2);
    const attempts = await shop.readAttempts(created.order_id);
    expect(attempts).toMatchObject([
      { attempt_id: created.order_id, token: created.token },
      { number: 2, token: shown.token, has_claim: false },
    ]);

    await shop.setStatusAndNotify(attempts.at(-1)?.attempt_id ?? '', 'settlement');
    expect(await readOrder(customer, created.order_id)).toMatchObject({ status: 'settlement', token: null });
  });

  it('ends 24 hours after the order at the latest', async () => {
    const created = await placeOrder(customer, items);
    // After a failed transaction, the next request opens a new page.
    await shop.setStatusAndNotify(created.order_id, 'deny');
    const change =
      "UPDATE orders SET created_at = now() - interval '23 hours 55 minutes' WHERE order_id = $1";
    await shop.query(change, [created.order_id]);
    await openPage(created.order_id);
    const { created_at, pay_until } = await readOrder(customer, created.order_id);
    expect(Date.parse(pay_until ?? '') - Date.parse(created_at)).toBe(24 * 60 * 60 * 1000);
  });

  it.each(['settlement', 'cancel', 'refund', 'partial_refund'])(
    'is not available for an order with the status %s',
    async (status) => {
      const created = await placeOrder(customer, items);
      await shop.query('UPDATE orders SET status = $2 WHERE order_id = $1', [created.order_id, status]);
      expectFailure(await requestToken(created.order_id), 409, MESSAGES.orderNotPending);
      const withoutPage = { ...created, status, pay_until: null, token: null, redirect_url: null };
      expect(await readOrder(customer, created.order_id)).toEqual(withoutPage);
      expect(shop.gateway.calls).toHaveLength(1);
    },
  );

  it.each(['pending', 'deny'] as const)(
    'does not hide a transaction with the status %s of which the gateway notifies the service before it returns the page',
    async (status) => {
      shop.gateway.beforeResponse = ({ orderId }) => shop.setStatusAndNotify(orderId ?? '', status);
      const { order_id } = await placeOrder(customer, items);
      const { transactionId: transaction_id } = shop.gateway.order(order_id).transactions.at(-1) ?? {};
      expect(await shop.readStoredOrder(order_id)).toMatchObject({ status, transaction_id });
      expect(await shop.readAttempts(order_id)).toMatchObject([{ has_claim: false }]);
    },
  );

  it('is not available if the order is paid on an expired page during the call', async () => {
    const created = await placeOrder(customer, items);
    await expirePage(created.order_id);
    shop.gateway.beforeProcessing = () => shop.setStatusAndNotify(created.order_id, 'settlement');
    expectFailure(await requestToken(created.order_id), 409, MESSAGES.orderNotPending);
  });

  describe('if a process took the lease of the payment attempt and died during the call to the gateway', () => {
    // A lease lasts 10 seconds and a request waits for 5, so a lease that is 7 seconds old expires during the wait. The waiting
    // request leaves it to a later request.
    it('is not available while the lease lasts, nor to a request that waits when the lease expires', async () => {
      const orderIds = await shop.insertOrdersWithoutPages(customer, 2);
      for (const [n, orderId] of orderIds.entries()) await storeLease(orderId, n * 7);
      const requests = orderIds.flatMap((orderId) => [1, 2].map(() => requestToken(orderId).expect(502)));
      for (const response of await Promise.all(requests))
        expectFailure(response, 502, MESSAGES.gatewayUnavailable);
      expect(shop.gateway.calls).toEqual([]);
      for (const orderId of orderIds)
        expect(await shop.readAttempts(orderId)).toMatchObject([{ attempt_id: orderId, has_claim: true }]);
    });

    it('is opened by one of 20 requests after more than 10 seconds', async () => {
      const [orderId = ''] = await shop.insertOrdersWithoutPages(customer, 1);
      await storeLease(orderId, 11);
      const pages = await inParallel(20, () => openPage(orderId));
      expect(shop.gateway.calls).toHaveLength(1);
      const { token } = shop.gateway.order(orderId);
      for (const page of pages) expect(page.token).toBe(token);
      expect(await shop.readAttempts(orderId)).toMatchObject([
        { attempt_id: orderId, token, has_claim: false },
      ]);
    });
  });

  it('is not available if another process takes the lease during the call', async () => {
    const orderIds = await shop.insertOrdersWithoutPages(customer, 2);
    shop.gateway.beforeProcessing = () =>
      shop.query(
        'UPDATE payment_attempts SET claim_id = gen_random_uuid(), claimed_at = now() WHERE claim_id IS NOT NULL',
      );
    // The service must not end the new lease, neither after a response nor after an error.
    shop.gateway.addFault({ operation: 'create', kind: 'response-lost', nth: 1 });
    const responses = await Promise.all(orderIds.map((orderId) => requestToken(orderId).expect(502)));
    for (const response of responses) expectFailure(response, 502, MESSAGES.gatewayUnavailable);
    for (const orderId of orderIds)
      expect(await shop.readAttempts(orderId)).toEqual([
        { attempt_id: orderId, number: 1, has_claim: true, token: null },
      ]);
  });

  it('is requested only once more if its id is taken', async () => {
    const body = { error_messages: ['transaction_details.order_id has already been taken'] };
    shop.gateway.addFault({ operation: 'create', kind: 'response', status: 400, body });
    expectFailure(await requestOrder(customer, items), 502, MESSAGES.gatewayUnavailable);
    const [orderId = ''] = await shop.readStoredOrderIds(customer);
    expect(await shop.readAttempts(orderId)).toMatchObject([{ number: 1 }, { number: 2, has_claim: false }]);
    expect(shop.gateway.calls).toHaveLength(2);
  });

  it.each([
    [401, 'Access denied due to unauthorized transaction, please check client or server key'],
    [400, 'customer_details.email format is invalid'],
  ])(
    'is opened after rejections with %d "%s", which add no attempt and are logged without the server key',
    async (status, message) => {
      const body = { error_messages: [message] };
      shop.gateway.addFault({ operation: 'create', kind: 'response', status, body });
      expectFailure(await requestOrder(customer, items), 502, MESSAGES.gatewayUnavailable);
      const [orderId = ''] = await shop.readStoredOrderIds(customer);
      await Promise.all([1, 2, 3].map(() => requestToken(orderId).expect(502)));
      expect(await shop.readAttempts(orderId)).toEqual([
        { attempt_id: orderId, number: 1, has_claim: false, token: null },
      ]);

      const reason = status === 401 ? 'MIDTRANS_SERVER_KEY' : message;
      expect(JSON.stringify(shop.service.listErrors())).toContain(reason);
      expect(JSON.stringify(shop.service.log)).not.toContain(shop.gateway.serverKey);

      shop.gateway.clearFaults();
      expect((await openPage(orderId)).token).toBe(shop.gateway.order(orderId).token);
    },
  );
});
