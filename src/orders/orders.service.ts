import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { DataSource, type EntityManager } from 'typeorm';
import type { Principal } from '../common/current-user.decorator.js';
import { violatedConstraint } from '../common/database-errors.js';
import { failures } from '../common/errors.js';
import { ordersCreated, orderSteps } from '../common/metrics.js';
import { ProductsService } from '../products/products.service.js';
import { CheckoutService } from './checkout.service.js';
import type { NewOrderItemDto, OrderRequestDto } from './create-order.dto.js';
import { type Fulfilment, mayBecome } from './fulfilment.js';
import { newOrder } from './new-order.js';
import { OrderMailsService } from './order-mails.service.js';
import { afterPayment, isCompleted, type OrderStatus } from './order-status.js';
import { type Order, PaymentAttempt } from './order.entity.js';
import type { AdminOrdersQuery } from './orders-query.dto.js';
import { OrdersRepository } from './orders.repository.js';

export type { Order };

const KEY_CONSTRAINT = 'orders_user_id_idempotency_key_key';

/** What became known of a transaction, as an order keeps it. */
export interface OrderPayment {
  readonly status: OrderStatus;
  readonly attemptId: string;
  readonly transactionId: string;
  readonly paymentType: string;
  readonly fraudStatus: string | null;
  readonly grossAmount: string;
}

/** Orders of customers, and what is known of their payment. */
@Injectable()
export class OrdersService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly orders: OrdersRepository,
    private readonly products: ProductsService,
    private readonly checkout: CheckoutService,
    private readonly mails: OrderMailsService,
  ) {}

  /**
   * Commits a pending order and gets it a payment page. The same key with the same items goes on with the order
   * that they made before.
   *
   * @throws Failure 400 for products that do not exist or a total that cannot be paid, 409 when the key was used
   *   with other items, 502 when the gateway is away: the order stays, and the same call continues it
   */
  async create(customer: Principal, request: OrderRequestDto): Promise<Order> {
    const { items, 'idempotency-key': idempotencyKey = null } = request;
    const digest = digestOf(items);
    const repeated = await this.#repeated(customer, idempotencyKey, digest);
    if (repeated !== null) return repeated;

    const offers = await this.products.offers(items.map(({ product_id }) => product_id));
    const order = newOrder(items, offers);
    const attempt = PaymentAttempt.of(order.orderId, 1).claim();
    const identity = { userId: customer.id, idempotencyKey, requestDigest: digest };
    Object.assign(order, identity, { attempts: [attempt] });
    try {
      await this.dataSource.transaction((tx) => this.orders.insert(tx, order));
    } catch (error) {
      // The same key at the same moment: the other request has committed by now.
      const isRepeated = violatedConstraint(error) === KEY_CONSTRAINT;
      const other = isRepeated ? await this.#repeated(customer, idempotencyKey, digest) : null;
      if (other === null) throw error;
      return other;
    }
    ordersCreated.inc();
    const withPage = await this.checkout.ask(order, customer, attempt);
    if (withPage === null) return this.checkout.open(await this.orders.get(order.orderId), customer);
    return Object.assign(order, { attempts: [withPage] });
  }

  /** Orders, newest first; with a userId only that customer's. @throws Failure 404 past the last one */
  async page(query: AdminOrdersQuery, userId?: number): Promise<Order[]> {
    const page = await this.orders.page(query, userId);
    if (page.length === 0) throw failures.notFound();
    return page;
  }

  /** @throws Failure 404 unless the caller owns the order or is an administrator */
  findFor(caller: Principal, orderId: string): Promise<Order> {
    return caller.role === 'ADMIN' ? this.findWithCustomer(orderId) : this.findOwn(caller, orderId);
  }

  /** For administrators. @throws Failure 404 */
  async findWithCustomer(orderId: string): Promise<Order> {
    const order = await this.orders.findWithCustomer(orderId);
    if (order === null) throw failures.notFound();
    return order;
  }

  /** @throws Failure 404 unless the caller owns the order */
  async findOwn(customer: Principal, orderId: string): Promise<Order> {
    const order = await this.orders.find({ orderId, userId: customer.id });
    if (order === null) throw failures.notFound();
    return order;
  }

  /**
   * Takes an order to its next step, and mails the customer when it is ready. Of two requests for one step the second
   * finds it done.
   * @throws Failure 404; 409 when the order cannot take this step
   */
  async advance(orderId: string, next: Fulfilment): Promise<Order> {
    const order = await this.findWithCustomer(orderId);
    await this.dataSource.transaction(async (tx) => {
      // Another step or a payment may have changed it by now.
      Object.assign(order, await this.orders.lock(tx, orderId));
      if (!mayBecome(order, next)) throw failures.fulfilmentStep(next);
      await this.orders.update(tx, orderId, { fulfilment: next });
      if (next === 'ready') await this.mails.enqueue(tx, orderId, 'order-ready');
    });
    orderSteps.inc({ fulfilment: next });
    return Object.assign(order, { fulfilment: next });
  }

  /** @throws Failure 404 for another's order, 409 when it is not pending, 502 when the gateway is away */
  async paymentPage(customer: Principal, orderId: string): Promise<PaymentAttempt> {
    const { payable } = await this.checkout.open(await this.findOwn(customer, orderId), customer);
    if (payable === null) throw failures.orderNotPending();
    return payable;
  }

  /** Ids under which the gateway may know an order's payment, newest first. */
  async gatewayIds(orderId: string): Promise<string[]> {
    const { attempts } = await this.orders.get(orderId);
    return attempts.length === 0 ? [orderId] : attempts.map(({ attemptId }) => attemptId).reverse();
  }

  /** Pending orders that the gateway is to be asked about now; each is due again after a longer gap. */
  takeDueForCheck(tx: EntityManager, limit: number): Promise<string[]> {
    return this.orders.takeDueForCheck(tx, limit);
  }

  /**
   * Locks the order that an id of the gateway names, until the transaction ends.
   * @returns null when there is none
   */
  lock(tx: EntityManager, id: string): Promise<Order | null> {
    return this.orders.lock(tx, id);
  }

  /** Gives a locked order the state that a payment leads to, and queues a receipt if it is paid for the first time. */
  async applyPayment(tx: EntityManager, order: Order, payment: OrderPayment): Promise<void> {
    const { attemptId, paymentType, fraudStatus, grossAmount: transactionAmount } = payment;
    const now = new Date();
    const isFirstPaid = order.firstPaidAt === null && isCompleted(payment.status);
    await this.orders.update(tx, order.orderId, {
      ...afterPayment(order, payment, now),
      attemptId,
      paymentType,
      fraudStatus,
      transactionAmount,
      firstPaidAt: isFirstPaid ? now : order.firstPaidAt,
    });
    if (isFirstPaid) await this.mails.enqueue(tx, order.orderId, 'order-receipt');
  }

  /** Ends a locked order for which the gateway has no transaction. */
  async close(tx: EntityManager, orderId: string, status: 'cancel' | 'expire'): Promise<void> {
    await this.orders.update(tx, orderId, { status, completedAt: null });
  }

  /** @returns the order that this very request made before, with its payment page; null if it made none */
  async #repeated(customer: Principal, key: string | null, digest: Buffer): Promise<Order | null> {
    if (key === null) return null;
    const order = await this.orders.find({ userId: customer.id, idempotencyKey: key });
    if (order === null) return null;
    if (order.requestDigest?.equals(digest) !== true) throw failures.idempotencyKeyReused();
    return this.checkout.open(order, customer);
  }
}

function digestOf(items: readonly NewOrderItemDto[]): Buffer {
  const canonical = items.map(({ product_id, quantity }) => [product_id, quantity]);
  return createHash('sha256').update(JSON.stringify(canonical)).digest();
}
