import type { Response } from 'supertest';
import type { Client } from './support/client.js';
import type { MidtransFault } from './support/midtrans-stand-in.js';
import { storedOrder } from './support/notifications.js';
import { fail } from './support/products.js';
import { orderOf } from './support/orders.js';
import {
  addAttempt,
  allChecked,
  calls,
  GROSS_AMOUNT,
  notifyOf,
  openShop,
  placeOrder,
  reconcile,
  type Shop,
  story,
} from './support/shop.js';
import { until } from './support/wait.js';

const UNAVAILABLE = fail(502, 'payment gateway is unavailable, please try again later');
/** Within this a customer has an answer. */
const PATIENCE_MS = 6_000;

let shop: Shop;

beforeAll(async () => {
  shop = await openShop();
});

afterEach(() => {
  shop.gateway.clearFaults();
  shop.gateway.beforeProcessing = undefined;
  shop.gateway.beforeAnswering = undefined;
  shop.gateway.httpStatusFollowsCode = false;
});

afterAll(() => shop.close());

function cancel(orderId: string, client: Client = shop.customer): Promise<Response> {
  return client.post(`/api/orders/${orderId}/cancel`).then((answer) => answer);
}

/** A placed order whose customer has chosen how to pay. */
async function chosenOrder(): Promise<string> {
  const orderId = await placeOrder(shop);
  shop.gateway.setStatus(orderId, 'pending');
  return orderId;
}

async function statusOf(orderId: string): Promise<string> {
  return (await storedOrder(shop.service, orderId)).status;
}

/** The order's own page still takes the money, and the sale is known. */
async function expectPayable(orderId: string): Promise<void> {
  const shown = orderOf(await shop.customer.get(`/api/orders/${orderId}`).expect(200));
  expect(shown).toMatchObject({ status: 'pending', token: shop.gateway.order(orderId).token });
  await shop.customer.post(`/api/orders/${orderId}/token`).expect(200);
  shop.gateway.settle(orderId);
  expect(await notifyOf(shop, orderId)).toBe(200);
  expect(await statusOf(orderId)).toBe('settlement');
}

describe('a pending order', () => {
  it('is cancelled at the gateway and here when a method was chosen', async () => {
    const orderId = await chosenOrder();
    const answer = await cancel(orderId);
    expect(answer.status).toBe(200);
    expect(orderOf(answer)).toMatchObject({
      order_id: orderId,
      status: 'cancel',
      completed_at: null,
      payment_type: 'bank_transfer',
      token: null,
      redirect_url: null,
    });
    expect(shop.gateway.order(orderId).transactions.at(-1)?.status).toBe('cancel');
    expect(await story(shop, orderId)).toEqual(['cancellation cancel applied']);
  });

  it.each([false, true])(
    'is cancelled here when no method was chosen, which the gateway answers with 404 (as HTTP status: %s)',
    async (httpStatusFollowsCode) => {
      shop.gateway.httpStatusFollowsCode = httpStatusFollowsCode;
      const orderId = await placeOrder(shop);
      expect(orderOf(await cancel(orderId))).toMatchObject({ status: 'cancel', token: null });
      expect(calls(shop, 'cancel', orderId)).toBe(1);
      expect(await story(shop, orderId)).toEqual(['cancellation cancel applied']);
      await shop.customer.post(`/api/orders/${orderId}/token`).expect(409);
    },
  );

  it('every payment attempt is cancelled, and the older one does not decide', async () => {
    const orderId = await chosenOrder();
    const later = await addAttempt(shop, orderId);
    expect(orderOf(await cancel(orderId)).status).toBe('cancel');
    expect([calls(shop, 'cancel', orderId), calls(shop, 'cancel', later)]).toEqual([1, 1]);
    expect(shop.gateway.order(orderId).transactions.at(-1)?.status).toBe('cancel');
    expect(await statusOf(orderId)).toBe('cancel');
  });

  it('an attempt that is over at the gateway does not keep the rest of an order from being cancelled', async () => {
    const orderId = await chosenOrder();
    await addAttempt(shop, orderId);
    shop.gateway.setStatus(orderId, 'expire');
    const answer = await cancel(orderId);
    expect(answer.status).toBe(200);
    expect(orderOf(answer)).toMatchObject({ status: 'cancel', token: null });
    expect(await story(shop, orderId)).toEqual(['cancellation cancel applied']);
  });

  it('a later attempt that was paid keeps the order from being cancelled', async () => {
    const orderId = await chosenOrder();
    const later = await addAttempt(shop, orderId);
    shop.gateway.settle(later);
    expect((await cancel(orderId)).status).toBe(409);
    await until('the sale is known', async () => (await statusOf(orderId)) === 'settlement');
    // The gateway tells of the attempt that was cancelled, when the order is paid.
    expect(await notifyOf(shop, orderId)).toBe(200);
    expect(await statusOf(orderId)).toBe('settlement');
    expect((await story(shop, orderId)).at(-1)).toBe('notification cancel late');
  });
});

describe('an order that is not pending', () => {
  it.each(['settlement', 'expire', 'authorize'] as const)(
    'in %s it is refused with 409, and the gateway is not asked',
    async (status) => {
      const orderId = await placeOrder(shop);
      shop.gateway.setStatus(orderId, status);
      await notifyOf(shop, orderId);
      const answer = await cancel(orderId);
      expect(answer.status).toBe(409);
      expect(answer.body).toMatchObject({ status: 'fail', errors: { code: 409 } });
      expect(calls(shop, 'cancel', orderId)).toBe(0);
      expect(await statusOf(orderId)).toBe(status);
    },
  );

  it.each([false, true])('paid meanwhile is 409 (412 as HTTP status: %s)', async (httpStatusFollowsCode) => {
    shop.gateway.httpStatusFollowsCode = httpStatusFollowsCode;
    const orderId = await chosenOrder();
    shop.gateway.settle(orderId);
    expect((await cancel(orderId)).status).toBe(409);
    await until('the sale is known', async () => (await statusOf(orderId)) === 'settlement');
    const order = await storedOrder(shop.service, orderId);
    expect(order.completed_at).not.toBeNull();
    expect(await story(shop, orderId)).toEqual(['reconciliation settlement applied']);
  });

  it('cancelled twice at once it is cancelled once, and never fails otherwise', async () => {
    for (const isChosen of [true, false]) {
      const orderId = isChosen ? await chosenOrder() : await placeOrder(shop);
      const answers = await Promise.all(Array.from({ length: 4 }, () => cancel(orderId)));
      const statuses = answers.map(({ status }) => status);
      expect(statuses).toContain(200);
      expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([]);
      expect(await statusOf(orderId)).toBe('cancel');
      await allChecked(shop);
      expect(await story(shop, orderId)).toEqual(['cancellation cancel applied']);
    }
  });
});

describe('a gateway that fails', () => {
  it.each<[string, object]>([
    ['cuts the connection', { kind: 'down' }],
    ['answers 500', { kind: 'error' }],
    ['cuts its answer', { kind: 'answer', status: 200, body: '{"status_code":"200","transaction' }],
    ['does not accept the key', { kind: 'answer', status: 401, body: { status_code: '401' } }],
    ['answers 404 without saying of what', { kind: 'answer', status: 404, body: '' }],
    [
      'answers with an unknown status',
      { kind: 'answer', status: 200, body: cancelAnswer({ transaction_status: 'dissolved' }) },
    ],
    [
      'answers that the payment is pending',
      { kind: 'answer', status: 200, body: cancelAnswer({ transaction_status: 'pending' }) },
    ],
  ])('that %s is a 502, and the order stays payable', async (_what, fault) => {
    const orderId = await chosenOrder();
    shop.gateway.fault({ operation: 'cancel', ...fault } as MidtransFault);
    const answer = await cancel(orderId);
    expect([answer.status, answer.body]).toEqual([502, UNAVAILABLE]);
    expect(await story(shop, orderId)).toEqual([]);
    await expectPayable(orderId);
  });

  it('that is away or silent is a 502 within 6 s, and the order can be cancelled later', async () => {
    const orders = await Promise.all([chosenOrder(), placeOrder(shop)]);
    shop.gateway.fault({ operation: 'cancel', kind: 'hang' });
    const since = Date.now();
    const answers = await Promise.all(orders.map((orderId) => cancel(orderId)));
    expect(answers.map(({ status }) => status)).toEqual([502, 502]);
    expect(Date.now() - since).toBeLessThan(PATIENCE_MS);
    shop.gateway.clearFaults();
    await shop.gateway.down();
    try {
      for (const orderId of orders) expect((await cancel(orderId)).status).toBe(502);
    } finally {
      await shop.gateway.up();
    }
    for (const orderId of orders) {
      expect(await statusOf(orderId)).toBe('pending');
      expect(orderOf(await cancel(orderId)).status).toBe('cancel');
    }
  });

  it('a cancellation whose answer was lost is found out', async () => {
    const orderId = await chosenOrder();
    shop.gateway.fault({ operation: 'cancel', kind: 'answer-lost' });
    expect((await cancel(orderId)).status).toBe(502);
    expect(await statusOf(orderId)).toBe('pending');
    await reconcile(shop, [orderId]);
    expect(await statusOf(orderId)).toBe('cancel');
    expect(await story(shop, orderId)).toEqual(['reconciliation cancel applied']);
  });

  it('that cancels only one of two attempts leaves the order pending and payable', async () => {
    const orderId = await chosenOrder();
    const later = await addAttempt(shop, orderId);
    shop.gateway.setStatus(later, 'pending');
    // The attempts are cancelled side by side: the other call is carried out.
    shop.gateway.beforeProcessing = (call) => {
      if (call.orderId === later) throw new Error('the gateway fails on the later attempt');
    };
    expect((await cancel(orderId)).status).toBe(502);
    shop.gateway.beforeProcessing = undefined;
    await until(
      'the older attempt is cancelled',
      () => shop.gateway.order(orderId).transactions.at(-1)?.status === 'cancel',
    );
    expect(await notifyOf(shop, orderId)).toBe(200);
    expect(await statusOf(orderId)).toBe('pending');
    shop.gateway.settle(later);
    expect(await notifyOf(shop, later)).toBe(200);
    expect(await statusOf(orderId)).toBe('settlement');
  });
});

/** An answer to a cancellation that differs in some fields. */
function cancelAnswer(fields: Record<string, string>): object {
  return {
    status_code: '200',
    transaction_id: '9aed5972-5b6a-401e-894b-a32c91ed1a3a',
    gross_amount: `${GROSS_AMOUNT}.00`,
    payment_type: 'bank_transfer',
    transaction_status: 'cancel',
    fraud_status: 'accept',
    ...fields,
  };
}
