import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { isUUID } from 'class-validator';
import { type EntityManager, type OrderByCondition, Repository, type SelectQueryBuilder } from 'typeorm';
import type { TimeRange } from '../common/calendar.js';
import { pipelined } from '../common/pipelined.js';
import { toLikePattern } from '../common/query.decorators.js';
import { isPaidSql } from './order-status.js';
import { Order, OrderItem } from './order.entity.js';
import type { AdminOrdersQuery } from './orders-query.dto.js';
import { PaymentAttempt } from './payment-attempt.entity.js';

const PAGE_SIZE = 50;
const CUSTOMER_COLUMNS = ['customer.id', 'customer.fullname', 'customer.email', 'customer.emailVerifiedAt'];

@Injectable()
export class OrdersRepository {
  constructor(@InjectRepository(Order) private readonly orders: Repository<Order>) {}

  /** Finds an order with items and attempts, in one statement, because clients poll their orders. */
  find(where: Partial<Pick<Order, 'orderId' | 'userId' | 'idempotencyKey'>>): Promise<Order | null> {
    return this.#selectWithParts().where(where).getOne();
  }

  get(orderId: string): Promise<Order> {
    return this.#selectWithParts().where({ orderId }).getOneOrFail();
  }

  findWithCustomer(orderId: string): Promise<Order | null> {
    return this.#selectWithCustomer().where({ orderId }).getOne();
  }

  /**
   * Returns a page of orders with items, attempts and customers.
   * @param userId selects only orders of this customer
   * @param pickup day of `query.pickup`: selects only orders with a pickup time on this day, sorted by pickup time
   */
  page(query: AdminOrdersQuery, userId?: number, pickup?: TimeRange): Promise<Order[]> {
    const ids = this.#selectPageIds(query, userId, pickup);
    return this.#selectWithCustomer(buildSortOrder('o', pickup))
      .where(`o.orderId IN (${ids.getQuery()})`)
      .setParameters(ids.getParameters())
      .getMany();
  }

  /**
   * Returns the paid orders of a day that are not refused, with items and customers. Orders with a pickup time on the day
   * come first, by pickup time. Orders that were paid on the day and have no pickup time follow.
   */
  findOfDay(day: TimeRange): Promise<Order[]> {
    return this.orders
      .createQueryBuilder('o')
      .innerJoinAndSelect('o.items', 'item')
      .innerJoin('o.customer', 'customer')
      .addSelect(CUSTOMER_COLUMNS)
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

  async insert(tx: EntityManager, order: Order, attempt: PaymentAttempt): Promise<void> {
    await pipelined(
      // For orders, `tx.insert` would also read columns with default values back, which takes five times as long.
      tx.createQueryBuilder().insert().into(Order).values(order).updateEntity(false).execute(),
      tx.insert(OrderItem, order.items),
      tx.insert(PaymentAttempt, attempt),
    );
  }

  /**
   * Locks an order until the transaction ends, so that payment events are applied one after another. Loads no relations.
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

  #selectPageIds(query: AdminOrdersQuery, userId?: number, pickup?: TimeRange): SelectQueryBuilder<Order> {
    const { status, fulfilment, paid, refund, q: search, last_id: lastId } = query;
    const ids = this.orders
      .createQueryBuilder('page')
      .select('page.orderId')
      .orderBy(buildSortOrder('page', pickup))
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
      const byCustomer =
        'page.userId IN (SELECT id FROM users WHERE fullname ILIKE :part OR email ILIKE :part)';
      const condition =
        range === null ? byCustomer : `${byCustomer} OR page.orderId BETWEEN :least AND :greatest`;
      ids.andWhere(`(${condition})`, { part: toLikePattern(search), ...range });
    }
    if (lastId !== undefined) {
      const [column, comparison] = pickup === undefined ? ['created_at', '<'] : ['pickup_at', '>'];
      const ownerCondition = userId === undefined ? 'true' : 'user_id = :userId';
      ids.andWhere(
        `(page.${column}, page.order_id) ${comparison}
           (SELECT ${column}, order_id FROM orders WHERE order_id = :lastId AND ${ownerCondition})`,
        { lastId },
      );
    }
    return ids;
  }

  #selectWithCustomer(orderBy?: OrderByCondition): SelectQueryBuilder<Order> {
    return this.#selectWithParts(orderBy).innerJoin('o.customer', 'customer').addSelect(CUSTOMER_COLUMNS);
  }

  #selectWithParts(orderBy: OrderByCondition = {}): SelectQueryBuilder<Order> {
    return this.orders
      .createQueryBuilder('o')
      .leftJoinAndSelect('o.items', 'item')
      .leftJoinAndSelect('o.attempts', 'attempt')
      .orderBy({ ...orderBy, 'item.position': 'ASC', 'attempt.number': 'ASC' });
  }
}

/** Builds the sort order of a page: newest first, or by pickup time. @param alias alias of the table `orders` */
function buildSortOrder(alias: string, pickup?: TimeRange): OrderByCondition {
  return pickup === undefined
    ? { [`${alias}.createdAt`]: 'DESC', [`${alias}.orderId`]: 'DESC' }
    : { [`${alias}.pickupAt`]: 'ASC', [`${alias}.orderId`]: 'ASC' };
}

/** Returns the lowest and highest id that begin with a text; null if the text is not the beginning of an id. */
function parseIdPrefix(text: string): { readonly least: string; readonly greatest: string } | null {
  const [least = '', greatest = ''] = ['0', 'f'].map(
    (digit) => text + '00000000-0000-0000-0000-000000000000'.slice(text.length).replaceAll('0', digit),
  );
  return isUUID(least, 'loose') ? { least, greatest } : null;
}
