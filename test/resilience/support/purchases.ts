import { randomInt, randomUUID } from 'node:crypto';
import type { Client } from '../../support/client.js';
import type { MidtransStandIn } from '../../support/midtrans-stand-in.js';
import { sendNotification } from '../../support/notifications.js';
import { type OrderBody, orderOf, requestOrder } from '../../support/orders.js';
import type { AdminOrder } from '../../support/shop.js';
import { until } from '../../support/wait.js';
import type { Observer } from './observer.js';

/** Statuses of each payment, in order. The gateway sends a notification of each status. */
const STATUSES = ['settlement', 'refund'] as const;

interface Purchase {
  readonly key: string;
  readonly quantity: number;
  /** Undefined until the order is acknowledged. */
  order?: OrderBody;
  /** Statuses of the acknowledged notifications, in order. */
  readonly acknowledged: string[];
}

/** Places orders of one customer, each with an idempotency key, and sends the gateway's notifications. */
export class Purchases {
  readonly #purchases: Purchase[] = [];

  constructor(
    private readonly customer: Client,
    private readonly productId: number,
    private readonly gateway: MidtransStandIn,
    private readonly observer: Observer,
  ) {}

  get acknowledgedCount(): number {
    return this.#purchases.filter((purchase) => purchase.order !== undefined).length;
  }

  /** Continues one of the first four unfinished purchases. If fewer than four exist, this method may begin a new one. */
  async step(): Promise<void> {
    const unfinished = this.#purchases.filter(({ acknowledged }) => acknowledged.length < STATUSES.length);
    const purchase = unfinished[randomInt(4)] ?? {
      key: randomUUID(),
      quantity: randomInt(1, 9),
      acknowledged: [],
    };
    if (!this.#purchases.includes(purchase)) this.#purchases.push(purchase);
    if (purchase.order === undefined || randomInt(10) === 0) await this.#placeOrder(purchase);
    else await this.#sendNotification(purchase);
  }

  /** Places an order. A retry with the same key gets the same order. */
  async #placeOrder(purchase: Purchase): Promise<void> {
    const items = [{ product_id: this.productId, quantity: purchase.quantity }];
    // 502 is correct after a kill: the killed process keeps the lease of the payment attempt for 10 s.
    const response = await this.observer.send(requestOrder(this.customer, items, purchase.key), 201, 502);
    if (response?.status !== 201) return;
    const received = orderOf(response);
    if (received.order_id !== (purchase.order?.order_id ?? received.order_id))
      this.observer.violations.push(`key ${purchase.key} created two orders`);
    purchase.order ??= received;
  }

  /** Sends the gateway's next notification of a purchase, or repeats a notification that was not acknowledged. */
  async #sendNotification({ order: placed, acknowledged }: Purchase): Promise<void> {
    const status = STATUSES[acknowledged.length];
    const attempt = [...this.gateway.orders.values()].find(({ token }) => token === placed?.token);
    if (status === undefined || attempt === undefined) return;
    if (attempt.transactions.at(-1)?.status !== status) this.gateway.setStatus(attempt.orderId, status);
    const notification = this.gateway.notification(attempt.orderId);
    const response = await this.observer.send(
      sendNotification({ url: this.customer.url }, notification),
      200,
    );
    if (response !== undefined) acknowledged.push(status);
  }

  /** Retries until every order is paid and refunded, and compares the stored orders with the acknowledged changes. */
  async verify(admin: Client): Promise<void> {
    for (const purchase of this.#purchases) {
      const { key, quantity, acknowledged } = purchase;
      await until(`the order of key ${key} and its notifications are acknowledged`, async () => {
        if (purchase.order === undefined) await this.#placeOrder(purchase);
        else await this.#sendNotification(purchase);
        return acknowledged.length === STATUSES.length;
      });
      const response = await admin.get(`/api/admin/orders/${purchase.order?.order_id ?? ''}`).expect(200);
      const { order: found, notifications } = (response.body as { data: AdminOrder }).data;
      const applied = notifications.filter(({ outcome }) => outcome === 'applied');
      expect({
        quantity: found.items[0]?.quantity,
        status: found.status,
        applied: applied.map(({ transaction_status }) => transaction_status).toSorted(),
        others: notifications.filter(({ outcome }) => !['applied', 'duplicate'].includes(outcome)),
      }).toEqual({ quantity, status: 'refund', applied: ['refund', 'settlement'], others: [] });
    }
  }
}
