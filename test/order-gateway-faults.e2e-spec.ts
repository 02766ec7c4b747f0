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

interface Troubled extends Trouble {
  readonly customer: Client;
  readonly answer: Response;
  readonly tookMs: number;
}

describe('a gateway in trouble', () => {
  let shop: Shop;
  let items: NewItem[];
  /** Orders that were in trouble at the same time. */
  let troubled: readonly Troubled[];

  beforeAll(async () => {
    shop = await startShop();
    items = [{ product_id: await addProduct(shop), quantity: 2 }];
    const running: Promise<Troubled>[] = [];
    for (const trouble of TROUBLES) {
      // Counted from when the fault is set, so that each meets the next call, and no other.
      shop.gateway.fault({ ...trouble.fault, nth: 1 });
      const customer = await shop.customer();
      const begun = performance.now();
      running.push(
        order(customer.clone(), items, trouble.name).then((answer) => ({
          ...trouble,
          customer,
          answer,
          tookMs: performance.now() - begun,
        })),
      );
      await until('the gateway was asked', () => shop.gateway.calls.length === running.length);
    }
    troubled = await Promise.all(running);
    shop.gateway.clearFaults();
  });

  afterAll(() => shop.stop());

  it.each(TROUBLES.map(({ name }, index) => [name, index] as const))(
    'that %s: 502 within 6 seconds, one pending order, which goes on to one page and can be paid there',
    async (_name, index) => {
      const found = troubled[index];
      if (found === undefined) throw new Error('it was not tried');
      const { name, customer, answer, tookMs, isTaken } = found;
      expect([answer.status, answer.body]).toEqual([502, GATEWAY_AWAY]);
      expect(tookMs).toBeLessThan(ANSWERED_WITHIN_MS);
      const [orderId = '', ...others] = await orderIdsOf(shop, customer);
      expect(others).toEqual([]);
      expect(await readOrder(customer, orderId)).toMatchObject({ status: 'pending', token: null });
      expect(await attemptsOf(shop, orderId)).toEqual([
        { attempt_id: orderId, number: 1, is_claimed: false, token: null },
      ]);
      expect(shop.gateway.orders.has(orderId)).toBe(isTaken);

      const calls = shop.gateway.calls.length;
      const [again, token] = await Promise.all([
        order(customer.clone(), items, name).expect(201),
        requestToken(customer.clone(), orderId).expect(200),
      ]);
      expect(orderOf(again)).toMatchObject({ order_id: orderId, status: 'pending', ...paymentPageOf(token) });
      expect(await orderIdsOf(shop, customer)).toEqual([orderId]);
      // The id, and where the gateway had it already a fresh one.
      expect(shop.gateway.calls.length - calls).toBe(isTaken ? 2 : 1);
      const attempts = await attemptsOf(shop, orderId);
      expect(attempts).toHaveLength(isTaken ? 2 : 1);
      const gatewayId = attempts.at(-1)?.attempt_id ?? '';
      expect(gatewayId === orderId).toBe(!isTaken);
      expect(shop.gateway.order(gatewayId).token).toBe(paymentPageOf(token).token);
      await pay(shop, gatewayId);
      expect(await readOrder(customer, orderId)).toMatchObject({ status: 'settlement', token: null });
    },
  );

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
