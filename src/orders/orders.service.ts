import { Injectable } from '@nestjs/common';
import { createHash, randomUUID } from 'node:crypto';
import { DataSource, type EntityManager } from 'typeorm';
import type { Principal } from '../common/current-user.decorator.js';
import { failures } from '../common/errors.js';
import { Telemetry } from '../common/telemetry.js';
import type { PaymentPage } from '../gateway/payment-gateway.js';
import { ProductsService } from '../products/products.service.js';
import { CheckoutService } from './checkout.service.js';
import { afterPayment, type OrderStatus, type PaymentEvent, type PaymentState } from './order-status.js';
import type { CreateOrderDto, NewOrderItemDto } from './orders.dto.js';
import { type OrderItemRow, type OrderRow, OrdersRepository } from './orders.repository.js';
import { PaymentAttemptsRepository } from './payment-attempts.repository.js';

export type { OrderRow };

/** A payment event with what else is kept of it on the order. */
export interface Payment extends PaymentEvent {
  /** Id under which the gateway has it: the order's own or a later attempt's. */
  readonly attemptId: string;
  readonly paymentType: string;
  readonly fraudStatus: string | null;
  /** As the gateway wrote it. */
  readonly amount: string;
}

/** An order that nobody else changes until the transaction ends. */
export interface LockedOrder extends PaymentState {
  readonly orderId: string;
  /** The payment attempt that its status comes from or, while it is pending, is to come from. */
  readonly attemptId: string;
}

/** An order that may still be paid. */
export interface PendingOrder {
  readonly orderId: string;
  readonly createdAt: Date;
}

/** Orders of customers, and what is known of their payment (decisions.md, Orders). */
@Injectable()
export class OrdersService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly orders: OrdersRepository,
    private readonly products: ProductsService,
    private readonly attempts: PaymentAttemptsRepository,
    private readonly checkout: CheckoutService,
    private readonly telemetry: Telemetry,
  ) {}

  /**
   * Commits a pending order and gets it a payment page. The same key with the same items goes on with the order
   * that they made before.
   *
   * @throws Failure 404 for an unknown product, 400 for a total that cannot be paid, 409 when the key was used with
   *   other items, 502 when the gateway is away: the order stays, and the same call continues it
   */
  async create(
    customer: Principal,
    { items }: CreateOrderDto,
    idempotencyKey: string | null,
  ): Promise<OrderRow> {
    const requestDigest = digestOf(items);
    const orderId =
      (await this.#repeated(customer.id, idempotencyKey, requestDigest)) ??
      (await this.#insert(customer.id, items, idempotencyKey, requestDigest));
    const order = await this.#existing(orderId);
    if (order.status !== 'pending' || order.token !== null) return order;
    await this.checkout.open(order, customer);
    return this.#existing(orderId);
  }

  /**
   * A user's orders, newest first.
   * @throws Failure 404 when there are none after that one
   */
  async pageOf(customer: Principal, afterId: string | null): Promise<OrderRow[]> {
    return endingWithNotFound(await this.orders.pageOfUser(customer.id, afterId));
  }

  /** Everybody's orders, newest first. @throws Failure 404 when there are none after that one */
  async page(status: OrderStatus | null, afterId: string | null): Promise<OrderRow[]> {
    return endingWithNotFound(await this.orders.page(status, afterId));
  }

  /** @throws Failure 404 unless the caller owns the order or is an administrator */
  async findFor(caller: Principal, orderId: string): Promise<OrderRow> {
    const order = await this.orders.findById(orderId);
    if (order === null || (order.user_id !== caller.id && caller.role !== 'ADMIN')) throw failures.notFound();
    return order;
  }

  /** @throws Failure 404 unless the caller owns the order */
  async findOwn(customer: Principal, orderId: string): Promise<OrderRow> {
    const order = await this.orders.findById(orderId);
    if (order?.user_id !== customer.id) throw failures.notFound();
    return order;
  }

  /** @throws Failure 404 for another's order, 409 when it is not pending, 502 when the gateway is away */
  async paymentPage(customer: Principal, orderId: string): Promise<PaymentPage> {
    const page = await this.checkout.open(await this.findOwn(customer, orderId), customer);
    if (page === null) throw failures.orderNotPending();
    return page;
  }

  /**
   * Locks the order that an id of the gateway's names, until the transaction ends.
   * @returns null when there is none
   */
  async lock(tx: EntityManager, id: string): Promise<LockedOrder | null> {
    const order = await this.orders.lock(tx, id);
    if (order === null) return null;
    const { orderId, status, transactionId, completedAt } = order;
    const settledBy = status === 'pending' ? null : order.attemptId;
    const attemptId = settledBy ?? (await this.attempts.latest(tx, orderId))?.attemptId ?? orderId;
    return { orderId, status, transactionId, completedAt, attemptId };
  }

  /** Ids under which the gateway may know an order's payment. */
  async gatewayIds(orderId: string): Promise<string[]> {
    const ids = await this.attempts.idsOf(orderId);
    return ids.length === 0 ? [orderId] : ids;
  }

  /** @returns null when the order is not pending, or none */
  async findPending(orderId: string): Promise<PendingOrder | null> {
    const order = await this.orders.findById(orderId);
    return order?.status === 'pending' ? { orderId, createdAt: order.created_at } : null;
  }

  /** Pending orders that the gateway is to be asked about now; each is due again after a longer gap. */
  takeDueForCheck(tx: EntityManager, limit: number): Promise<string[]> {
    return this.orders.takeDueForCheck(tx, limit);
  }

  /** Ends an order that the transaction has locked and of which the gateway has no transaction. */
  async close(tx: EntityManager, orderId: string, status: 'cancel' | 'expire'): Promise<void> {
    await this.orders.update(tx, orderId, { status, completedAt: null });
  }

  /** Applies what became known of a payment to an order that the transaction has locked. */
  async applyPayment(tx: EntityManager, order: LockedOrder, payment: Payment): Promise<void> {
    const { attemptId, paymentType, fraudStatus, amount } = payment;
    await this.orders.update(tx, order.orderId, {
      ...afterPayment(order, payment, new Date()),
      attemptId,
      paymentType,
      fraudStatus,
      transactionAmount: amount,
    });
  }

  /** @returns the order that this very request made before, if it did */
  async #repeated(userId: number, idempotencyKey: string | null, digest: Buffer): Promise<string | null> {
    if (idempotencyKey === null) return null;
    const order = await this.orders.findByIdempotencyKey(userId, idempotencyKey);
    if (order === null) return null;
    if (order.requestDigest?.equals(digest) !== true) throw failures.idempotencyKeyReused();
    return order.orderId;
  }

  async #insert(
    userId: number,
    wanted: readonly NewOrderItemDto[],
    idempotencyKey: string | null,
    requestDigest: Buffer,
  ): Promise<string> {
    const items = await this.#priced(wanted);
    const total = items.reduce((sum, { price, quantity }) => sum + price * quantity, 0);
    if (total < 1) throw failures.validation({ items: 'the total should be at least 1 rupiah' });
    if (total > Number.MAX_SAFE_INTEGER)
      throw failures.validation({ items: 'the total is too large to be paid' });
    const order = {
      orderId: randomUUID(),
      userId,
      grossAmount: String(total),
      idempotencyKey,
      requestDigest,
    };
    const isNew = await this.dataSource.transaction((tx) => this.orders.insert(tx, order, items));
    if (isNew) {
      this.telemetry.report({ kind: 'order_created' });
      return order.orderId;
    }
    // The same key at the same moment: the other one has committed by now.
    const other = await this.#repeated(userId, idempotencyKey, requestDigest);
    if (other === null) throw new Error('an order with the same key vanished');
    return other;
  }

  async #priced(wanted: readonly NewOrderItemDto[]): Promise<OrderItemRow[]> {
    const offers = await this.products.offers(wanted.map(({ product_id }) => product_id));
    return wanted.map(({ product_id, quantity }) => {
      const offer = offers.get(product_id);
      if (offer === undefined) throw failures.notFound();
      return { product_id, quantity, ...offer };
    });
  }

  async #existing(orderId: string): Promise<OrderRow> {
    const order = await this.orders.findById(orderId);
    if (order === null) throw new Error('an order that was just committed is gone');
    return order;
  }
}

function digestOf(items: readonly NewOrderItemDto[]): Buffer {
  const canonical = items.map(({ product_id, quantity }) => [product_id, quantity]);
  return createHash('sha256').update(JSON.stringify(canonical)).digest();
}

function endingWithNotFound(page: OrderRow[]): OrderRow[] {
  if (page.length === 0) throw failures.notFound();
  return page;
}
