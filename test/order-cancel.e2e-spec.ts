import { expectFailure, MESSAGES } from './support/failure.js';
import type { MidtransFault } from './support/midtrans-stand-in.js';
import { orderOf, readOrder } from './support/orders.js';
import { GROSS_AMOUNT, useShop } from './support/shop.js';
import { CutConnection } from './support/stand-in.js';
import { inParallel, until } from './support/wait.js';

const shop = await useShop();

describe('a pending order', () => {
  it('is cancelled at the gateway if a payment method was chosen', async () => {
    const orderId = await shop.orderWithUnreportedPayment();
    const response = await shop.cancel(orderId);
    expect(response.status).toBe(200);
    expect(orderOf(response)).toMatchObject({
      order_id: orderId,
      status: 'cancel',
      completed_at: null,
      payment_type: 'bank_transfer',
      token: null,
      redirect_url: null,
    });
    expect(shop.gateway.statusOf(orderId)).toBe('cancel');
    expect(await shop.describeHistory(orderId)).toEqual(['cancellation cancel applied']);
  });

  it('is cancelled if the gateway knows no payment of it', async () => {
    const orderId = await shop.orderTwoPieces();
    expect(orderOf(await shop.cancel(orderId))).toMatchObject({ status: 'cancel', token: null });
    expect(shop.countCalls('cancel', orderId)).toBe(1);
    expect((await shop.readAsAdmin(orderId)).notifications).toMatchObject([
      {
        source: 'cancellation',
        outcome: 'applied',
        transaction_id: null,
        transaction_status: 'cancel',
        payload: '{"reason":"the order was cancelled"}',
      },
    ]);
  });

  it.each(['pending', 'expire'] as const)(
    'is cancelled with one call for each payment attempt, also if the first one has the status %s',
    async (status) => {
      const orderId = await shop.orderWithUnreportedPayment(status);
      const later = await shop.addAttempt(orderId);
      expect(orderOf(await shop.cancel(orderId))).toMatchObject({ status: 'cancel', token: null });
      for (const attemptId of [orderId, later]) expect(shop.countCalls('cancel', attemptId)).toBe(1);
      expect((await shop.describeHistory(orderId)).at(-1)).toBe('cancellation cancel applied');
    },
  );

  it('is cancelled together with a payment attempt that begins during the call', async () => {
    const orderId = await shop.orderWithUnreportedPayment();
    let later = '';
    shop.gateway.beforeResponse = async ({ operation }) => {
      if (operation !== 'cancel' || later !== '') return;
      later = await shop.addAttempt(orderId);
      shop.gateway.setStatus(later, 'pending');
    };
    expect(orderOf(await shop.cancel(orderId))).toMatchObject({ status: 'cancel', token: null });
    for (const attemptId of [orderId, later]) expect(shop.gateway.statusOf(attemptId)).toBe('cancel');
  });

  it('is cancelled together with the page that an earlier attempt without a page gets during the call', async () => {
    const orderId = await shop.orderWithUnreportedPayment();
    const later = await shop.addAttempt(orderId);
    const setToken = (token: string | null) =>
      shop.query('UPDATE payment_attempts SET token = $2 WHERE attempt_id = $1', [later, token]);
    await setToken(null);
    shop.gateway.beforeResponse = () => setToken('opened');
    expect(orderOf(await shop.cancel(orderId)).status).toBe('cancel');
    expect(shop.countCalls('cancel', later)).toBe(2);
  });

  it('is not cancelled if a later attempt was paid', async () => {
    const orderId = await shop.orderWithUnreportedPayment();
    const later = await shop.addAttempt(orderId);
    shop.gateway.settle(later);
    expect((await shop.cancel(orderId)).status).toBe(409);
    expect(await shop.readStatus(orderId)).toBe('settlement');
    expect((await shop.readAsAdmin(orderId)).actions).toEqual([]);
    await shop.notify(orderId);
    expect(await shop.readStatus(orderId)).toBe('settlement');
    expect((await shop.describeHistory(orderId)).at(-1)).toBe('notification cancel duplicate');
  });
});

describe('a cancellation', () => {
  it('takes effect for a card payment that was denied as fraud, although the gateway does not cancel it', async () => {
    const orderId = await shop.orderTwoPieces();
    await shop.setStatusAndNotify(orderId, 'capture', { paymentType: 'credit_card', fraudStatus: 'deny' });
    const rejection = { status_code: '412', status_message: 'Transaction status cannot be updated.' };
    shop.gateway.addFault({ operation: 'cancel', kind: 'response', status: 200, body: rejection });
    expect(orderOf(await shop.cancel(orderId)).status).toBe('cancel');
  });

  it.each(['settlement', 'cancel', 'refund'] as const)(
    'gets 409 without a call to the gateway for an order with the status %s',
    async (status) => {
      const orderId = await shop.orderTwoPieces();
      await shop.setStatusAndNotify(orderId, status);
      expectFailure(await shop.cancel(orderId), 409, MESSAGES.orderNotPending);
      expect(shop.countCalls('cancel', orderId)).toBe(0);
      expect(await shop.readStatus(orderId)).toBe(status);
    },
  );

  it.each([false, true])(
    'gets 409 if the gateway rejects it with the code 412 because the order was paid (412 is also the HTTP status: %s)',
    async (httpStatusFollowsCode) => {
      Object.assign(shop.gateway, { httpStatusFollowsCode });
      const orderId = await shop.orderWithUnreportedPayment('settlement');
      expect((await shop.cancel(orderId)).status).toBe(409);
      expect(await shop.readStatus(orderId)).toBe('settlement');
      // A cancellation that finds a payment records the payment as a reconciliation does.
      expect(await shop.describeHistory(orderId)).toEqual(['reconciliation settlement applied']);
    },
  );

  it('calls the gateway only once if the notification of the cancellation arrives during the call', async () => {
    const orderId = await shop.orderWithUnreportedPayment();
    shop.gateway.beforeResponse = ({ operation }) =>
      operation === 'cancel' ? shop.notify(orderId) : undefined;
    expect(orderOf(await shop.cancel(orderId)).status).toBe('cancel');
    expect(shop.countCalls('cancel', orderId)).toBe(1);
  });

  it('is recorded once for four parallel requests, with or without a chosen payment method', async () => {
    for (const orderId of [await shop.orderWithUnreportedPayment(), await shop.orderTwoPieces()]) {
      const responses = await inParallel(4, () => shop.cancel(orderId));
      const statuses = responses.map(({ status }) => status);
      expect(statuses).toContain(200);
      for (const status of statuses) expect([200, 409]).toContain(status);
      expect(await shop.readStatus(orderId)).toBe('cancel');
      // A payment check that was enqueued meanwhile must not record the cancellation again.
      await shop.waitForPaymentChecks();
      expect(await shop.describeHistory(orderId)).toEqual(['cancellation cancel applied']);
    }
  });
});

function respondWith(transaction_status: string): object {
  const transaction_id = '9aed5972-5b6a-401e-894b-a32c91ed1a3a';
  const payment = { transaction_id, gross_amount: `${GROSS_AMOUNT}.00`, payment_type: 'bank_transfer' };
  return { kind: 'response', status: 200, body: { status_code: '200', transaction_status, ...payment } };
}

describe('a cancellation while the gateway fails', () => {
  it.each<[string, object]>([
    ['cuts the connection', { kind: 'disconnect' }],
    ['does not accept the server key', { kind: 'response', status: 401, body: { status_code: '401' } }],
    ['responds with an unknown status', respondWith('dissolved')],
    ['responds that the payment is pending', respondWith('pending')],
  ])('gets 502 if the gateway %s, and the order can still be paid', async (_fault, fault) => {
    const orderId = await shop.orderWithUnreportedPayment();
    shop.gateway.addFault({ operation: 'cancel', ...fault } as MidtransFault);
    expectFailure(await shop.cancel(orderId), 502, MESSAGES.gatewayUnavailable);
    expect(shop.countCalls('cancel', orderId)).toBe(1);
    expect(await shop.describeHistory(orderId)).toEqual([]);
    const { token } = shop.gateway.order(orderId);
    expect(await readOrder(shop.customer, orderId)).toMatchObject({ status: 'pending', token });
    await shop.customer.post(`/api/orders/${orderId}/token`).expect(200);
    await shop.setStatusAndNotify(orderId, 'settlement');
    expect(await shop.readStatus(orderId)).toBe('settlement');
  });

  it('is recorded by the next reconciliation if the response was lost', async () => {
    const orderId = await shop.orderWithUnreportedPayment();
    shop.gateway.addFault({ operation: 'cancel', kind: 'response-lost' });
    expect((await shop.cancel(orderId)).status).toBe(502);
    expect(await shop.readStatus(orderId)).toBe('pending');
    await shop.reconcile([orderId]);
    expect(await shop.readStatus(orderId)).toBe('cancel');
    expect(await shop.describeHistory(orderId)).toEqual(['reconciliation cancel applied']);
  });

  it('leaves the order pending if the gateway cancels only one of two attempts', async () => {
    const orderId = await shop.orderWithUnreportedPayment();
    const later = await shop.addAttempt(orderId);
    shop.gateway.setStatus(later, 'pending');
    shop.gateway.beforeProcessing = (call) => {
      if (call.orderId === later) throw new CutConnection();
    };
    expect((await shop.cancel(orderId)).status).toBe(502);
    // The service calls the gateway for both attempts in parallel, so the other call may end after the response.
    await until('the first attempt is cancelled', () => shop.gateway.statusOf(orderId) === 'cancel');
    await shop.notify(orderId);
    expect(await shop.readStatus(orderId)).toBe('pending');
    await shop.setStatusAndNotify(later, 'settlement');
    expect(await shop.readStatus(orderId)).toBe('settlement');
  });
});
