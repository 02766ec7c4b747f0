import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { randomUUID } from 'node:crypto';
import {
  type EntityManager,
  type QueryDeepPartialEntity,
  Repository,
  type SelectQueryBuilder,
} from 'typeorm';
import type { PaymentPage } from '../gateway/payment-gateway.js';
import { beginningWith, containing } from '../common/search-query.decorator.js';
import type { Fulfilment } from './fulfilment.js';
import type { OrderStatus } from './order-status.js';
import { Order, OrderItem, type OrderWithCustomer, PaymentAttempt } from './order.entity.js';

/** Orders of one page. */
const PAGE_SIZE = 50;

/** A payment page is good for this long, as the gateway is told. */
const PAGE_LIFETIME_MS = 24 * 60 * 60 * 1000;

/**
 * The right of one request to ask the gateway under an attempt's id. It ends when another request claims the
 * attempt, which may happen 10 seconds later: a process that was stopped for that long finds it so.
 */
export interface AttemptClaim {
  readonly attemptId: string;
  readonly claimId: string;
}

/** A payment page as it is kept, and the end of the claim. */
export type SavedPage = Pick<PaymentAttempt, 'token' | 'redirectUrl' | 'expiresAt' | 'claimId' | 'claimedAt'>;

/** Which orders a list shows. */
export interface OrderFilter {
  readonly userId?: number;
  readonly status?: OrderStatus | undefined;
  readonly fulfilment?: Fulfilment | undefined;
  /** Part of the customer's name or e-mail, or how the order's id begins; in any case. */
  readonly search?: string | undefined;
  /** Those that were made before this one. */
  readonly afterId?: string | undefined;
}

@Injectable()
export class OrdersRepository {
  constructor(@InjectRepository(Order) private readonly orders: Repository<Order>) {}

  /** An order with its items and attempts, in one statement: this is what clients poll. */
  find(where: Partial<Pick<Order, 'orderId' | 'userId' | 'idempotencyKey'>>): Promise<Order | null> {
    return this.#withParts().where(where).getOne();
  }

  /** The same of an order that is known to exist. */
  get(orderId: string): Promise<Order> {
    return this.#withParts().where({ orderId }).getOneOrFail();
  }

  /** The same with its customer. */
  findWithCustomer(orderId: string): Promise<OrderWithCustomer | null> {
    return this.#withCustomer().where({ orderId }).getOne() as Promise<OrderWithCustomer | null>;
  }

  /** A page of orders with their items, attempts and customers, newest first. */
  async page({ userId, status, fulfilment, search, afterId }: OrderFilter): Promise<OrderWithCustomer[]> {
    const ids = this.orders
      .createQueryBuilder('page')
      .select('page.orderId')
      .orderBy('page.createdAt', 'DESC')
      .addOrderBy('page.orderId', 'DESC')
      .limit(PAGE_SIZE);
    if (userId !== undefined) ids.andWhere('page.userId = :userId', { userId });
    if (status !== undefined) ids.andWhere('page.status = :status', { status });
    if (fulfilment !== undefined) ids.andWhere('page.fulfilment = :fulfilment', { fulfilment });
    if (search !== undefined)
      ids
        .innerJoin('page.customer', 'searched')
        .andWhere(
          '(searched.fullname ILIKE :part OR searched.email ILIKE :part OR CAST(page.orderId AS text) LIKE :beginning)',
          { part: containing(search), beginning: beginningWith(search.toLowerCase()) },
        );
    if (afterId !== undefined)
      ids.andWhere(
        `(page.createdAt, page.orderId) < (SELECT created_at, order_id FROM orders
           WHERE order_id = :afterId AND user_id = coalesce(:ownerId, user_id))`,
        { afterId, ownerId: userId ?? null },
      );
    const page = await this.#withCustomer()
      .where(`o.orderId IN (${ids.getQuery()})`)
      .setParameters(ids.getParameters())
      .orderBy('o.createdAt', 'DESC')
      .addOrderBy('o.orderId', 'DESC')
      .addOrderBy('item.position')
      .addOrderBy('attempt.number')
      .getMany();
    return page as OrderWithCustomer[];
  }

  /** Inserts an order with its items and attempts; sets what the database adds. */
  async insert(tx: EntityManager, order: Order): Promise<void> {
    await tx.insert(Order, order);
    await tx.insert(OrderItem, order.items);
    await tx.insert(PaymentAttempt, order.attempts);
  }

  /**
   * Locks an order until the transaction ends, so that news of its payment is applied one after another.
   * @param id of the order or of one of its payment attempts, which is what the gateway may name
   */
  lock(tx: EntityManager, id: string): Promise<Order | null> {
    return tx
      .createQueryBuilder(Order, 'o')
      .setLock('pessimistic_write')
      .where('o.orderId = coalesce((SELECT order_id FROM payment_attempts WHERE attempt_id = :id), :id)', {
        id,
      })
      .getOne();
  }

  /**
   * Takes pending orders whose time has come; gaps double from 5 minutes to 6 hours, and one check falls on the 25th
   * hour. SQL, because TypeORM cannot update what a subquery locks with SKIP LOCKED: orders that another process is
   * taking are left to it.
   */
  async takeDueForCheck(tx: EntityManager, limit: number): Promise<string[]> {
    const [rows] = await tx.query<[{ order_id: string }[], number]>(
      `UPDATE orders SET checks = least(checks + 1, 100), next_check_at = least(
           now() + least(interval '5 minutes' * 2 ^ least(checks, 10), interval '6 hours'),
           greatest(created_at + interval '25 hours', now() + interval '5 minutes'))
       WHERE order_id IN (
         SELECT order_id FROM orders WHERE status = 'pending' AND next_check_at <= now()
         ORDER BY next_check_at LIMIT $1 FOR UPDATE SKIP LOCKED)
       RETURNING order_id`,
      [limit],
    );
    return rows.map(({ order_id }) => order_id);
  }

  async update(tx: EntityManager, orderId: string, change: QueryDeepPartialEntity<Order>): Promise<void> {
    await tx.update(Order, { orderId }, { ...change, updatedAt: () => 'now()' });
  }

  /** The latest payment attempt of an order. */
  latestAttempt(tx: EntityManager, orderId: string): Promise<PaymentAttempt | null> {
    return tx.findOne(PaymentAttempt, { where: { orderId }, order: { number: 'DESC' } });
  }

  /** Ids under which the gateway may know an order's payment, newest first. */
  async attemptIds(orderId: string): Promise<string[]> {
    const attempts = await this.orders.manager.find(PaymentAttempt, {
      where: { orderId },
      order: { number: 'DESC' },
      select: { attemptId: true },
    });
    return attempts.map(({ attemptId }) => attemptId);
  }

  /** Adds an attempt to an order that the transaction has locked; from now on it is the one that counts. */
  async insertAttempt(tx: EntityManager, attempt: PaymentAttempt & AttemptClaim): Promise<AttemptClaim> {
    const { orderId, attemptId } = attempt;
    await tx.insert(PaymentAttempt, attempt);
    await tx.update(Order, { orderId }, { attemptId });
    return attempt;
  }

  /** Takes an attempt over; an earlier claim ends. */
  async claimAttempt(tx: EntityManager, attemptId: string): Promise<AttemptClaim> {
    const claim = { attemptId, claimId: randomUUID() };
    await tx.update(PaymentAttempt, { attemptId }, { ...claim, claimedAt: new Date() });
    return claim;
  }

  /** Gives a claim back; does nothing when it has ended. */
  async releaseAttempt({ attemptId, claimId }: AttemptClaim): Promise<void> {
    const change = { claimId: null, claimedAt: null };
    await this.orders.manager.update(PaymentAttempt, { attemptId, claimId }, change);
  }

  /**
   * Keeps the page that the gateway gave.
   * @returns what changed of the attempt; null, and nothing is kept, when another request has taken the attempt over or
   *   the order is no longer pending
   */
  async savePage({ attemptId, claimId }: AttemptClaim, page: PaymentPage): Promise<SavedPage | null> {
    const expiresAt = new Date(Date.now() + PAGE_LIFETIME_MS);
    const change = { ...page, expiresAt, claimId: null, claimedAt: null };
    const { affected } = await this.orders.manager
      .createQueryBuilder()
      .update(PaymentAttempt)
      .set(change)
      .where({ attemptId, claimId })
      .andWhere("(SELECT status FROM orders WHERE orders.order_id = payment_attempts.order_id) = 'pending'")
      .execute();
    return affected === 1 ? change : null;
  }

  /** Of the account nothing else is read. */
  #withCustomer(): SelectQueryBuilder<Order> {
    return this.#withParts()
      .innerJoin('o.customer', 'customer')
      .addSelect(['customer.id', 'customer.fullname', 'customer.email']);
  }

  #withParts(): SelectQueryBuilder<Order> {
    return this.orders
      .createQueryBuilder('o')
      .leftJoinAndSelect('o.items', 'item')
      .leftJoinAndSelect('o.attempts', 'attempt')
      .orderBy('item.position')
      .addOrderBy('attempt.number');
  }
}
