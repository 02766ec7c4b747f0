import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { isUUID } from 'class-validator';
import {
  type EntityManager,
  type QueryDeepPartialEntity,
  Repository,
  type SelectQueryBuilder,
} from 'typeorm';
import type { PaymentPage } from '../gateway/payment-gateway.js';
import { containing } from '../common/search-query.decorator.js';
import { Order, OrderItem, PaymentAttempt } from './order.entity.js';
import type { AdminOrdersQuery } from './orders-query.dto.js';

/** Orders of one page. */
const PAGE_SIZE = 50;

/** A payment page is good for this long, as the gateway is told. */
const PAGE_LIFETIME_MS = 24 * 60 * 60 * 1000;

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
  findWithCustomer(orderId: string): Promise<Order | null> {
    return this.#withCustomer().where({ orderId }).getOne();
  }

  /** A page of orders with their items, attempts and customers; with a userId only that customer's. */
  page(query: AdminOrdersQuery, userId?: number): Promise<Order[]> {
    const { status, fulfilment, q: search, last_id: afterId } = query;
    const ids = this.orders
      .createQueryBuilder('page')
      .select('page.orderId')
      .orderBy('page.createdAt', 'DESC')
      .addOrderBy('page.orderId', 'DESC')
      .limit(PAGE_SIZE);
    if (userId !== undefined) ids.andWhere('page.userId = :userId', { userId });
    if (status !== undefined) ids.andWhere('page.status = :status', { status });
    if (fulfilment !== undefined) ids.andWhere('page.fulfilment = :fulfilment', { fulfilment });
    if (search !== undefined) {
      const range = idsBeginningWith(search);
      // Not a join, which would look up the customer of every order: two to four times slower where little is found.
      const customers = ids
        .subQuery()
        .select('searched.id')
        .from('users', 'searched')
        .where('searched.fullname ILIKE :part OR searched.email ILIKE :part');
      const isFound = `page.userId IN ${customers.getQuery()}`;
      ids
        .andWhere(range === null ? isFound : `(${isFound} OR page.orderId BETWEEN :least AND :greatest)`)
        .setParameters({ part: containing(search), ...range });
    }
    if (afterId !== undefined) {
      const after = ids
        .subQuery()
        .select(['last.createdAt', 'last.orderId'])
        .from(Order, 'last')
        .where('last.orderId = :afterId', { afterId });
      if (userId !== undefined) after.andWhere('last.userId = :userId');
      ids.andWhere(`(page.createdAt, page.orderId) < ${after.getQuery()}`).setParameters({ afterId });
    }
    return this.#withCustomer()
      .where(`o.orderId IN (${ids.getQuery()})`)
      .setParameters(ids.getParameters())
      .getMany();
  }

  /** Inserts an order with its items and attempts. */
  async insert(tx: EntityManager, order: Order): Promise<void> {
    await Promise.all([
      // Unlike `tx.insert`, this does not read back what the database adds, which takes a fifth of the time.
      tx.createQueryBuilder().insert().into(Order).values(order).updateEntity(false).execute(),
      tx.insert(OrderItem, order.items),
      tx.insert(PaymentAttempt, order.attempts),
    ]);
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

  /** Stores a claimed attempt of an order that the transaction has locked; from now on it is the one that counts. */
  async saveAttempt(tx: EntityManager, attempt: PaymentAttempt): Promise<void> {
    const { orderId, attemptId } = attempt;
    await tx.upsert(PaymentAttempt, attempt, ['attemptId']);
    await tx.update(Order, { orderId }, { attemptId });
  }

  /** Gives a claim back; does nothing when it has ended. */
  async releaseAttempt(attempt: PaymentAttempt): Promise<void> {
    await this.#endClaim(attempt).execute();
  }

  /**
   * Keeps the page that the gateway gave for an attempt.
   * @returns the attempt with the page; null, and nothing is kept, when another request has claimed the attempt or the
   *   order is no longer pending
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

  /** Of the account nothing else is read. */
  #withCustomer(): SelectQueryBuilder<Order> {
    return this.#withParts()
      .innerJoin('o.customer', 'customer')
      .addSelect(['customer.id', 'customer.fullname', 'customer.email']);
  }

  /** Newest first. */
  #withParts(): SelectQueryBuilder<Order> {
    return this.orders
      .createQueryBuilder('o')
      .leftJoinAndSelect('o.items', 'item')
      .leftJoinAndSelect('o.attempts', 'attempt')
      .orderBy({
        'o.createdAt': 'DESC',
        'o.orderId': 'DESC',
        'item.position': 'ASC',
        'attempt.number': 'ASC',
      });
  }
}

/** The bounds of the ids that begin with a text; null when none can. */
function idsBeginningWith(text: string): { readonly least: string; readonly greatest: string } | null {
  const [least = '', greatest = ''] = ['0', 'f'].map(
    (digit) => text + '00000000-0000-0000-0000-000000000000'.slice(text.length).replaceAll('0', digit),
  );
  return isUUID(least, 'loose') ? { least, greatest } : null;
}
