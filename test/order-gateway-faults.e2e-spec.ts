import type { Response } from 'supertest';
import type { Client } from './support/client.js';
import type { MidtransFault } from './support/midtrans-stand-in.js';
import {
  addProduct,
  attemptsOf,
  GATEWAY_AWAY,
  type NewItem,
  order,
  orderIdsOf,
  orderOf,
  pay,
  paymentPageOf,
  placeOrder,
  readOrder,
  requestToken,
  type Shop,
  startShop,
} from './support/orders.js';
import { until } from './support/wait.js';

const ANSWERED_WITHIN_MS = 6_000;

interface Trouble {
  readonly name: string;
  readonly fault: MidtransFault;
  /** Whether the gateway took the order's id, so that it refuses it from now on. */
  readonly isTaken: boolean;
}

const TROUBLES: readonly Trouble[] = [
  { name: 'cuts the connection', fault: { operation: 'create', kind: 'down' }, isTaken: false },
  { name: 'hangs', fault: { operation: 'create', kind: 'hang' }, isTaken: false },
  { name: 'answers garbage', fault: { operation: 'create', kind: 'garbage' }, isTaken: true },
  { name: 'loses its answer', fault: { operation: 'create', kind: 'answer-lost' }, isTaken: true },
  {
    name: 'answers after our deadline',
    fault: { operation: 'create', kind: 'late', afterMs: 5_500 },
    isTaken: true,
  },
];

interface Troubled {
  readonly customer: Client;
  readonly key: string;
  readonly answer: Response;
  readonly tookMs: number;
}

describe('the gateway in trouble', () => {
  let shop: Shop;
  let items: NewItem[];
  /** What came of an order in each trouble: they were all in it at the same time. */
  const troubled = new Map<string, Troubled>();

  beforeAll(async () => {
    shop = await startShop();
    items = [{ product_id: await addProduct(shop), quantity: 2 }];
    const running: Promise<void>[] = [];
    for (const [index, { name, fault }] of TROUBLES.entries()) {
      // Counted from when the fault is set, so that each meets the next call, and no other.
      shop.gateway.fault({ ...fault, nth: 1 });
      const customer = await shop.customer();
      const begun = performance.now();
      running.push(
        order(customer.clone(), items, name).then((answer) => {
          troubled.set(name, { customer, key: name, answer, tookMs: performance.now() - begun });
        }),
      );
      await until('the gateway was asked', () => shop.gateway.calls.length === index + 1);
    }
    await Promise.all(running);
    shop.gateway.clearFaults();
  });

  afterAll(() => shop.stop());

  function caseOf({ name }: Trouble): Troubled {
    const found = troubled.get(name);
    if (found === undefined) throw new Error('it was not tried');
    return found;
  }

  describe.each(TROUBLES)('that $name', (trouble) => {
    let customer: Client;
    let orderId: string;

    beforeAll(async () => {
      ({ customer } = caseOf(trouble));
      [orderId = ''] = await orderIdsOf(shop, customer);
    });

    it('is a 502 within 6 seconds', () => {
      const { answer, tookMs } = caseOf(trouble);
      expect([answer.status, answer.body]).toEqual([502, GATEWAY_AWAY]);
      expect(tookMs).toBeLessThan(ANSWERED_WITHIN_MS);
    });

    it('leaves one pending order without a page, and the attempt free', async () => {
      expect(await orderIdsOf(shop, customer)).toEqual([orderId]);
      expect(await readOrder(customer, orderId)).toMatchObject({
        status: 'pending',
        gross_amount: 50_000,
        token: null,
        redirect_url: null,
      });
      expect(await attemptsOf(shop, orderId)).toEqual([
        { attempt_id: orderId, number: 1, is_claimed: false, token: null },
      ]);
      expect(shop.gateway.orders.has(orderId)).toBe(trouble.isTaken);
    });

    it('both the same Idempotency-Key and the token route continue the order, to one page', async () => {
      const { key } = caseOf(trouble);
      const calls = shop.gateway.calls.length;
      const [again, token] = await Promise.all([
        order(customer.clone(), items, key).expect(201),
        requestToken(customer.clone(), orderId).expect(200),
      ]);
      expect(orderOf(again)).toMatchObject({ order_id: orderId, status: 'pending', ...paymentPageOf(token) });
      expect(await orderIdsOf(shop, customer)).toEqual([orderId]);
      // The id, and where the gateway had it already a fresh one.
      expect(shop.gateway.calls.length - calls).toBe(trouble.isTaken ? 2 : 1);
    });

    it('the page is for the id that the gateway will name, and a payment there settles the order', async () => {
      const attempts = await attemptsOf(shop, orderId);
      const gatewayId = attempts.at(-1)?.attempt_id ?? '';
      expect(attempts).toHaveLength(trouble.isTaken ? 2 : 1);
      expect(gatewayId === orderId).toBe(!trouble.isTaken);
      const { token } = await readOrder(customer, orderId);
      expect(shop.gateway.order(gatewayId)).toMatchObject({ token, grossAmount: 50_000 });
      await pay(shop, gatewayId);
      expect(await readOrder(customer, orderId)).toMatchObject({
        order_id: orderId,
        status: 'settlement',
        token: null,
      });
    });
  });

  it('orders continue to be read and listed, and other orders to be made, while the gateway hangs for 20 requests', async () => {
    const [waiting, other] = await Promise.all([shop.customer(), shop.customer()]);
    const created = await placeOrder(other, items);
    shop.gateway.fault({ operation: 'create', kind: 'hang', nth: 1 });
    const calls = shop.gateway.calls.length;
    const begun = performance.now();
    const requests = Array.from({ length: 20 }, () =>
      order(waiting.clone(), items, 'hanging').then(({ status, body }) => ({
        status,
        body: body as unknown,
        tookMs: performance.now() - begun,
      })),
    );
    await until('the gateway was asked', () => shop.gateway.calls.length > calls);
    await placeOrder(other, items);
    for (let read = 0; read < 20; read += 1) await readOrder(other, created.order_id);
    await other.get('/api/orders').expect(200);
    expect(performance.now() - begun).toBeLessThan(4_900);

    for (const { status, body, tookMs } of await Promise.all(requests)) {
      expect([status, body]).toEqual([502, GATEWAY_AWAY]);
      expect(tookMs).toBeLessThan(ANSWERED_WITHIN_MS);
    }
    expect(await orderIdsOf(shop, waiting)).toHaveLength(1);
  });
});
