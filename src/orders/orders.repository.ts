import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { isUUID } from 'class-validator';
import {
  type EntityManager,
  type OrderByCondition,
  type QueryDeepPartialEntity,
  Repository,
  type SelectQueryBuilder,
} from 'typeorm';
import type { TimeRange } from '../common/calendar.js';
import type { PaymentPage } from '../gateway/payment-gateway.js';
import { pipelined } from '../common/pipelined.js';
import { toLikePattern } from '../common/search-query.decorator.js';
import { isPaidSql } from './order-status.js';
import { Order, OrderItem, PaymentAttempt } from './order.entity.js';
import type { AdminOrdersQuery } from './orders-query.dto.js';

const PAGE_SIZE = 50;

/** Lifetime of a payment page, which requests to the gateway also contain. */
const PAGE_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** Columns of an order that its view for administrators shows, or by which it is sorted. */
const DAY_SHEET_COLUMNS = [
  ...['orderId', 'status', 'fulfilment', 'grossAmount', 'refundedAmount', 'paymentType', 'fraudStatus'],
  ...['completedAt', 'firstPaidAt', 'createdAt', 'pickupAt', 'phone', 'note'],
]
  .map((column) => `o.${column}`)
  .concat(['orderId', 'position', 'productId', 'name', 'price', 'quantity'].map((column) => `item.${column}`))
  .concat(['customer.id', 'customer.fullname', 'customer.email']);

@Injectable()
export class OrdersRepository {
  constructor(@InjectRepository(Order) private readonly orders: Repository<Order>) {}

  /** Finds an order with items and attempts, in one statement because clients poll it. */
  find(where: Partial<Pick<Order, 'orderId' | 'userId' | 'idempotencyKey'>>): Promise<Order | null> {
    return this.#withParts().where(where).getOne();
  }

  get(orderId: string): Promise<Order> {
    return this.#withParts().where({ orderId }).getOneOrFail();
  }

  findWithCustomer(orderId: string): Promise<Order | null> {
    return this.#withCustomer().where({ orderId }).getOne();
  }

  /**
   * Returns a page of orders with items, attempts and customers.
   * @param userId only orders of this customer
   * @param pickup only orders that are collected in this range, by pickup time; others come newest first
   */
  page(query: AdminOrdersQuery, userId?: number, pickup?: TimeRange): Promise<Order[]> {
    const { status, fulfilment, paid, refund, q: search, last_id: afterId } = query;
    const [column, direction] =
      pickup === undefined ? (['createdAt', 'DESC'] as const) : (['pickupAt', 'ASC'] as const);
    const ids = this.orders
      .createQueryBuilder('page')
      .select('page.orderId')
      .orderBy(`page.${column}`, direction)
      .addOrderBy('page.orderId', direction)
      .limit(PAGE_SIZE);
    if (pickup !== undefined) ids.andWhere('page.pickupAt >= :start AND page.pickupAt < :end', pickup);
    if (userId !== undefined) ids.andWhere('page.userId = :userId', { userId });
    if (status !== undefined) ids.andWhere('page.status = :status', { status });
    if (fulfilment !== undefined) ids.andWhere('page.fulfilment = :fulfilment', { fulfilment });
    if (paid !== undefined) ids.andWhere(paid ? isPaidSql('page') : `NOT ${isPaidSql('page')}`);
    if (refund === 'due') ids.andWhere(`page.fulfilment = 'refused' AND ${isPaidSql('page')}`);
    if (search !== undefined) {
      const range = parseIdPrefix(search);
      // A join would look up the customer of every order, which is two to four times slower if few orders match.
      const customers = ids
        .subQuery()
        .select('searched.id')
        .from('users', 'searched')
        .where('searched.fullname ILIKE :part OR searched.email ILIKE :part');
      const isFound = `page.userId IN ${customers.getQuery()}`;
      ids
        .andWhere(range === null ? isFound : `(${isFound} OR page.orderId BETWEEN :least AND :greatest)`)
        .setParameters({ part: toLikePattern(search), ...range });
    }
    if (afterId !== undefined) {
      const after = ids
        .subQuery()
        .select([`last.${column}`, 'last.orderId'])
        .from(Order, 'last')
        .where('last.orderId = :afterId', { afterId });
      if (userId !== undefined) after.andWhere('last.userId = :userId');
      const comparison = direction === 'DESC' ? '<' : '>';
      ids
        .andWhere(`(page.${column}, page.orderId) ${comparison} ${after.getQuery()}`)
        .setParameters({ afterId });
    }
    return this.#withCustomer({ [`o.${column}`]: direction, 'o.orderId': direction })
      .where(`o.orderId IN (${ids.getQuery()})`)
      .setParameters(ids.getParameters())
      .getMany();
  }

  /**
   * Paid orders of a day that are not refused, with items and customers: those that are collected on it by pickup time, then
   * those without a pickup time that were paid on it. Their attempts are not read: a paid order has no payment page.
   */
  findOfDay(day: TimeRange): Promise<Order[]> {
    return this.orders
      .createQueryBuilder('o')
      .select(DAY_SHEET_COLUMNS)
      .innerJoin('o.items', 'item')
      .innerJoin('o.customer', 'customer')
      .orderBy({ 'o.pickupAt': 'ASC', 'o.firstPaidAt': 'ASC', 'o.orderId': 'ASC', 'item.position': 'ASC' })
      .where(
        `(o.pickupAt >= :start AND o.pickupAt < :end
          OR o.pickupAt IS NULL AND o.firstPaidAt >= :start AND o.firstPaidAt < :end)`,
        day,
      )
      .andWhere(isPaidSql('o'))
      .andWhere("o.fulfilment <> 'refused'")
      .getMany();
  }

  /** Inserts an order with its items and attempts. */
  async insert(tx: EntityManager, order: Order): Promise<void> {
    await pipelined(
      // `tx.insert` would read generated columns back, which takes a fifth of the time.
      tx.createQueryBuilder().insert().into(Order).values(order).updateEntity(false).execute(),
      tx.insert(OrderItem, order.items),
      tx.insert(PaymentAttempt, order.attempts),
    );
  }

  /**
   * Locks an order until the transaction ends, so that payment events are applied one after another.
   * @param id id of the order or of one of its payment attempts
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
   * Takes pending orders that are due for reconciliation. Gaps double from 5 minutes to 6 hours, and one check falls on the
   * 25th hour. SQL, because TypeORM cannot update rows that a subquery locks with SKIP LOCKED.
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

  latestAttempt(tx: EntityManager, orderId: string): Promise<PaymentAttempt | null> {
    return tx.findOne(PaymentAttempt, { where: { orderId }, order: { number: 'DESC' } });
  }

  /** Stores a claimed attempt of a locked order as the order's current attempt. */
  async saveAttempt(tx: EntityManager, attempt: PaymentAttempt): Promise<void> {
    const { orderId, attemptId } = attempt;
    await tx.upsert(PaymentAttempt, attempt, ['attemptId']);
    await tx.update(Order, { orderId }, { attemptId });
  }

  /** Releases a claim. Does nothing if the claim has ended. */
  async releaseAttempt(attempt: PaymentAttempt): Promise<void> {
    await this.#endClaim(attempt).execute();
  }

  /**
   * Stores the payment page of an attempt.
   * @returns the attempt with the page; null if another request has claimed the attempt or the order is no longer pending
   */
  async savePage(attempt: PaymentAttempt, page: PaymentPage): Promise<PaymentAttempt | null> {
    const change = { ...page, expiresAt: new Date(Date.now() + PAGE_LIFETIME_MS) };
    const { affected } = await this.#endClaim(attempt, change)
      .andWhere("(SELECT status FROM orders WHERE orders.order_id = payment_attempts.order_id) = 'pending'")
      .execute();
    return affected === 1 ? Object.assign(attempt, change) : null;
  }

  #endClaim({ attemptId, claimId }: PaymentAttempt, change: Partial<PaymentAttempt> = {}) {
    return this.orders.manager
      .createQueryBuilder()
      .update(PaymentAttempt)
      .set({ ...change, claimId: null, claimedAt: null })
      .where({ attemptId, claimId });
  }

  #withCustomer(order?: OrderByCondition): SelectQueryBuilder<Order> {
    return this.#withParts(order)
      .innerJoin('o.customer', 'customer')
      .addSelect(['customer.id', 'customer.fullname', 'customer.email', 'customer.emailVerifiedAt']);
  }

  /** @param order of the orders; the newest come first if it is left out */
  #withParts(
    order: OrderByCondition = { 'o.createdAt': 'DESC', 'o.orderId': 'DESC' },
  ): SelectQueryBuilder<Order> {
    return this.orders
      .createQueryBuilder('o')
      .leftJoinAndSelect('o.items', 'item')
      .leftJoinAndSelect('o.attempts', 'attempt')
      .orderBy({
        ...order,
        'item.position': 'ASC',
        'attempt.number': 'ASC',
      });
  }
}

/** Returns the lowest and highest id that begin with a text; null if no id can. */
function parseIdPrefix(text: string): { readonly least: string; readonly greatest: string } | null {
  const [least = '', greatest = ''] = ['0', 'f'].map(
    (digit) => text + '00000000-0000-0000-0000-000000000000'.slice(text.length).replaceAll('0', digit),
  );
  return isUUID(least, 'loose') ? { least, greatest } : null;
}
