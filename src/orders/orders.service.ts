import { Injectable } from '@nestjs/common';
import { createHash, randomUUID } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import type { Principal } from '../common/current-user.decorator.js';
import { failures } from '../common/errors.js';
import { ordersCreated } from '../common/metrics.js';
import type { PaymentPage } from '../gateway/payment-gateway.js';
import { ProductsService } from '../products/products.service.js';
import { CheckoutService } from './checkout.service.js';
import type { OrderStatus } from './order-status.js';
import { type CreateOrderDto, type NewOrderItemDto, PRODUCT_GONE } from './orders.dto.js';
import {
  type InsertedOrder,
  type NewOrder,
  type OrderItemRow,
  type OrderRow,
  OrdersRepository,
} from './orders.repository.js';
import { PaymentAttemptsRepository } from './payment-attempts.repository.js';

export type { OrderRow };

/** An order that nobody else changes until the transaction ends. */
export interface LockedOrder {
  readonly orderId: string;
  readonly status: OrderStatus;
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
    private readonly orders: OrdersRepository,
    private readonly products: ProductsService,
    private readonly attempts: PaymentAttemptsRepository,
    private readonly checkout: CheckoutService,
  ) {}

  /**
   * Commits a pending order and gets it a payment page. The same key with the same items goes on with the order
   * that they made before.
   *
   * @throws Failure 400 for products that do not exist or a total that cannot be paid, 409 when the key was used
   *   with other items, 502 when the gateway is away: the order stays, and the same call continues it
   */
  async create(
    customer: Principal,
    { items }: CreateOrderDto,
    idempotencyKey: string | null,
  ): Promise<OrderRow> {
    const requestDigest = digestOf(items);
    const repeated = await this.#repeated(customer.id, idempotencyKey, requestDigest);
    if (repeated !== null) return this.#continue(repeated, customer);
    const order = await this.#priced(customer.id, items, idempotencyKey, requestDigest);
    const inserted = await this.orders.insert(order);
    if (inserted !== null) {
      ordersCreated.inc();
      return this.#payable(order, inserted, customer);
    }
    // The same key at the same moment: the other one has committed by now.
    const other = await this.#repeated(customer.id, idempotencyKey, requestDigest);
    if (other === null) throw new Error('an order with the same key vanished');
    return this.#continue(other, customer);
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
    return { orderId: order.orderId, status: order.status };
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

  /** @returns the order that this very request made before, if it did */
  async #repeated(userId: number, idempotencyKey: string | null, digest: Buffer): Promise<string | null> {
    if (idempotencyKey === null) return null;
    const order = await this.orders.findByIdempotencyKey(userId, idempotencyKey);
    if (order === null) return null;
    if (order.requestDigest?.equals(digest) !== true) throw failures.idempotencyKeyReused();
    return order.orderId;
  }

  async #continue(orderId: string, customer: Principal): Promise<OrderRow> {
    const order = await this.#existing(orderId);
    if (order.status !== 'pending' || order.token !== null) return order;
    await this.checkout.open(order, customer);
    return this.#existing(orderId);
  }

  /** A new order with its payment page. Read again only if something has become of it in the meantime. */
  async #payable(
    { orderId, userId, grossAmount, items }: NewOrder,
    { createdAt, claim }: InsertedOrder,
    customer: Principal,
  ): Promise<OrderRow> {
    const order: OrderRow = {
      order_id: orderId,
      user_id: userId,
      status: 'pending',
      gross_amount: grossAmount,
      payment_type: null,
      fraud_status: null,
      completed_at: null,
      created_at: createdAt,
      items: [...items],
      token: null,
      redirect_url: null,
    };
    const page = await this.checkout.openNew(order, customer, claim);
    return page === null
      ? this.#existing(orderId)
      : { ...order, token: page.token, redirect_url: page.redirectUrl };
  }

  async #priced(
    userId: number,
    wanted: readonly NewOrderItemDto[],
    idempotencyKey: string | null,
    requestDigest: Buffer,
  ): Promise<NewOrder> {
    const offers = await this.products.offers(wanted.map(({ product_id }) => product_id));
    const items: OrderItemRow[] = [];
    const gone: Record<string, string> = {};
    for (const [index, { product_id, quantity }] of wanted.entries()) {
      const offer = offers.get(product_id);
      if (offer === undefined) gone[`items.${index}.product_id`] = PRODUCT_GONE;
      else items.push({ product_id, ...offer, quantity });
    }
    if (Object.keys(gone).length > 0) throw failures.validation(gone);
    const total = items.reduce((sum, { price, quantity }) => sum + price * quantity, 0);
    if (total < 1) throw failures.validation({ items: 'the total should be at least 1 rupiah' });
    if (total > Number.MAX_SAFE_INTEGER)
      throw failures.validation({ items: 'the total is too large to be paid' });
    return {
      orderId: randomUUID(),
      userId,
      grossAmount: String(total),
      idempotencyKey,
      requestDigest,
      items,
    };
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
