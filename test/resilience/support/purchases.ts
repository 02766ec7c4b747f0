import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '../../support/client.js';
import type { MidtransStandIn } from '../../support/midtrans-stand-in.js';
import { NOTIFICATIONS_PATH } from '../../support/notifications.js';
import { order, orderOf, type OrderAnswer } from '../../support/orders.js';
import type { Observer } from './observer.js';
import type { Random } from './random.js';

const SETTLE_DEADLINE_MS = 30_000;
const STATUSES = ['pending', 'settlement', 'refund'] as const;

type Body = Record<string, unknown>;

interface Purchase {
  readonly key: string;
  readonly quantity: number;
  /** Undefined until its creation is acknowledged; the same key goes on with it. */
  order: OrderAnswer | undefined;
  readonly acknowledged: Body[];
  /** Sent, and not acknowledged yet: the gateway delivers it again. */
  undelivered: Body | undefined;
}

interface History {
  readonly order: OrderAnswer;
  readonly notifications: readonly {
    readonly source: string;
    readonly outcome: string;
    readonly transaction_id: string | null;
    readonly transaction_status: string | null;
  }[];
}

/** Orders of a customer of its own, each with an idempotency key, and the gateway's notifications of them. */
export class Purchases {
  readonly #all: Purchase[] = [];
  readonly #gatewayCaller: Client;
  notificationsSent = 0;

  constructor(
    private readonly customer: Client,
    private readonly productId: number,
    private readonly gateway: MidtransStandIn,
    private readonly observer: Observer,
    private readonly random: Random,
  ) {
    this.#gatewayCaller = new Client(customer.url);
  }

  get acknowledgedOrders(): number {
    return this.#all.filter((purchase) => purchase.order !== undefined).length;
  }

  get acknowledgedNotifications(): number {
    return this.#all.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0);
  }

  async step(): Promise<void> {
    const open = this.#all.filter(
      ({ order: made, acknowledged }) => made === undefined || acknowledged.length < 3,
    );
    if (open.length < 2 || this.random.chance(0.35)) {
      const purchase: Purchase = {
        key: randomUUID(),
        quantity: this.random.between(1, 9),
        order: undefined,
        acknowledged: [],
        undelivered: undefined,
      };
      this.#all.push(purchase);
      await this.#place(purchase);
      return;
    }
    const purchase = this.random.pick(open);
    if (purchase.order === undefined || this.random.chance(0.1)) await this.#place(purchase);
    else await this.#notify(purchase);
  }

  /** Places an order, or asks for it again under the same key. */
  async #place(purchase: Purchase): Promise<void> {
    const items = [{ product_id: this.productId, quantity: purchase.quantity }];
    // 502: the process that asked the gateway died, and its claim is void only after 10 s.
    const outcome = await this.observer.send(order(this.customer, items, purchase.key), [201, 502]);
    if (!outcome.isKnown || outcome.answer.status === 502) return;
    const answered = orderOf(outcome.answer);
    if (purchase.order !== undefined && purchase.order.order_id !== answered.order_id) {
      this.observer.violation(`one key made two orders: ${purchase.order.order_id} and ${answered.order_id}`);
    }
    purchase.order = { ...answered, token: answered.token ?? purchase.order?.token ?? null };
  }

  async #notify(purchase: Purchase): Promise<void> {
    const body = (purchase.undelivered ??= this.#nextNotification(purchase));
    if (body === undefined) return;
    this.notificationsSent += 1;
    const outcome = await this.observer.send(this.#gatewayCaller.post(NOTIFICATIONS_PATH).send(body), [200]);
    if (!outcome.isKnown) return;
    purchase.acknowledged.push(body);
    purchase.undelivered = undefined;
  }

  #nextNotification({ order: made, acknowledged }: Purchase): Body | undefined {
    const status = STATUSES[acknowledged.length];
    const page = [...this.gateway.orders.values()].find(({ token }) => token === made?.token);
    if (status === undefined || page === undefined) return undefined;
    this.gateway.setStatus(page.orderId, status);
    return this.gateway.notification(page.orderId);
  }

  /** The customer and the gateway try again until they have their answers. Call while the service is whole. */
  async settle(): Promise<void> {
    const deadline = Date.now() + SETTLE_DEADLINE_MS;
    for (const purchase of this.#all) {
      while (!isSettled(purchase) && Date.now() < deadline) {
        if (purchase.order === undefined) await this.#place(purchase);
        else await this.#notify(purchase);
        if (!isSettled(purchase)) await delay(200);
      }
      if (!isSettled(purchase)) {
        this.observer.violation(`order of key ${purchase.key} or its notification is not to be had`);
      }
    }
  }

  /** @returns orders and notifications that were acknowledged and are not there, or not as they were given */
  async verify(
    admin: Client,
  ): Promise<{ lostOrders: number; lostNotifications: number; inHistory: number; applied: number }> {
    let [lostOrders, lostNotifications, inHistory, applied] = [0, 0, 0, 0];
    for (const { order: made, quantity, acknowledged } of this.#all) {
      if (made === undefined) continue;
      const outcome = await this.observer.send(admin.get(`/api/admin/orders/${made.order_id}`), [200]);
      const history = outcome.isKnown ? (outcome.answer.body as { data: History }).data : undefined;
      if (
        history?.order.items[0]?.quantity !== quantity ||
        history.order.gross_amount !== made.gross_amount
      ) {
        lostOrders += 1;
        this.observer.violation(`order ${made.order_id} is lost or changed`);
        continue;
      }
      for (const { transaction_id, transaction_status } of acknowledged) {
        const kept = history.notifications.filter(
          (line) => line.transaction_id === transaction_id && line.transaction_status === transaction_status,
        );
        const timesApplied = kept.filter((line) => line.outcome === 'applied').length;
        const isRepeatedOtherwise = kept.some(
          ({ outcome: what }) => what !== 'applied' && what !== 'duplicate',
        );
        if (kept.length > 0) inHistory += 1;
        if (timesApplied === 1) applied += 1;
        if (timesApplied !== 1 || isRepeatedOtherwise) {
          lostNotifications += 1;
          this.observer.violation(
            `a ${String(transaction_status)} of ${made.order_id}: ${JSON.stringify(kept)}`,
          );
        }
      }
      const last = acknowledged.at(-1);
      const status = last === undefined ? 'pending' : statusOf(last);
      const isComplete = history.order.completed_at !== null;
      if (history.order.status !== status || isComplete !== (status === 'settlement')) {
        lostNotifications += 1;
        this.observer.violation(`order ${made.order_id} is ${history.order.status}, not ${status}`);
      }
    }
    await this.#verifyCount();
    return { lostOrders, lostNotifications, inHistory, applied };
  }

  /** No key made more than one order: the customer has as many as there are keys. */
  async #verifyCount(): Promise<void> {
    let count = 0;
    for (let lastId = ''; ;) {
      const path = `/api/orders${lastId === '' ? '' : `?last_id=${lastId}`}`;
      const outcome = await this.observer.send(this.customer.get(path), [200, 404]);
      if (!outcome.isKnown || outcome.answer.status === 404) break;
      const { data } = outcome.answer.body as { data: { meta: { lastOrderId: string }; orders: unknown[] } };
      count += data.orders.length;
      lastId = data.meta.lastOrderId;
    }
    if (count !== this.#all.length) {
      this.observer.violation(`a customer with ${this.#all.length} keys has ${count} orders`);
    }
  }
}

function isSettled(purchase: Purchase): boolean {
  return purchase.order !== undefined && purchase.undelivered === undefined;
}

function statusOf(notification: Body): string {
  return typeof notification.transaction_status === 'string' ? notification.transaction_status : '';
}
