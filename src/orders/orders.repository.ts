import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { isUUID } from 'class-validator';
import { type EntityManager, type OrderByCondition, Repository, type SelectQueryBuilder } from 'typeorm';
import type { TimeRange } from '../common/calendar.js';
import { toLikePattern } from '../database/like-pattern.js';
import { isOpenSql, isPaidSql } from './order-status.js';
import { type LockedOrder, Order } from './order.entity.js';
import { OrderItem } from './order-item.entity.js';
import type { AdminOrdersQuery } from './orders-query.dto.js';

const PAGE_SIZE = 50;
/** First key of the advisory lock that serializes the orders of a customer. The second key is the id of the customer. */
const OPEN_ORDERS_LOCK = 1_766_432;
const CUSTOMER_COLUMNS = [
  'customer.id',
  'customer.fullname',
  'customer.email',
  'customer.emailVerifiedAt',
  'customer.language',
];

@Injectable()
export class OrdersRepository {
  constructor(@InjectRepository(Order) private readonly orders: Repository<Order>) {}

  /** Finds an order with items and attempts, in one statement, because clients poll their orders. */
  find(where: Partial<Pick<Order, 'orderId' | 'userId' | 'idempotencyKey'>>): Promise<Order | null> {
    return this.#selectWithParts().where(where).getOne();
  }

  findOrFail(orderId: string): Promise<Order> {
    return this.#selectWithParts().where({ orderId }).getOneOrFail();
  }

  findWithCustomer(orderId: string): Promise<Order | null> {
    return this.#selectWithParts()
      .innerJoin('o.customer', 'customer')
      .addSelect(CUSTOMER_COLUMNS)
      .where({ orderId })
      .getOne();
  }

  /**
   * Returns a page of orders with items, attempts and customers, in one statement.
   * @param userId selects only orders of this customer
   * @param pickup day of `query.pickup`: selects only orders with a pickup time on this day, sorted by pickup time
   */
  findPage(query: AdminOrdersQuery, userId?: number, pickup?: TimeRange): Promise<Order[]> {
    const ids = this.#selectPageIds(query, userId, pickup);
    const page = this.orders
      .createQueryBuilder('o')
      .leftJoinAndSelect('o.attempts', 'attempt')
      .orderBy({ ...buildSortOrder('o', pickup), 'attempt.number': 'ASC' })
      .where(`o.orderId IN (${ids.getQuery()})`)
      .setParameters(ids.getParameters());
    return getManyWithItems(page);
  }

  /**
   * Returns the paid orders of a range of days that are not refused, with items and customers. Orders with a pickup time in
   * the range come first, by pickup time. Orders that were paid in the range and have no pickup time follow.
   * @param isUncollected selects only orders that are not collected
   */
  findOfDays(days: TimeRange, { isUncollected = false } = {}): Promise<Order[]> {
    const orders = this.orders
      .createQueryBuilder('o')
      .orderBy({ 'o.pickupAt': 'ASC', 'o.firstPaidAt': 'ASC', 'o.orderId': 'ASC' })
      .where(
        `(o.pickupAt >= :start AND o.pickupAt < :end
          OR o.pickupAt IS NULL AND o.firstPaidAt >= :start AND o.firstPaidAt < :end)`,
        days,
      )
      .andWhere(isPaidSql('o'))
      .andWhere("o.fulfilment <> 'refused'");
    return getManyWithItems(isUncollected ? orders.andWhere("o.fulfilment <> 'collected'") : orders);
  }

  /** Lets further orders of a customer wait until the transaction ends. */
  async lockOrdersOf(tx: EntityManager, userId: number): Promise<void> {
    await tx.query('SELECT pg_advisory_xact_lock($1, $2)', [OPEN_ORDERS_LOCK, userId]);
  }

  async countOpen(tx: EntityManager, userId: number): Promise<number> {
    // The condition on `created_at` lets the index skip old orders. No order is open for more than 25 hours.
    const rows = await tx.query<{ open: number }[]>(
      `SELECT count(*)::int AS open FROM orders
       WHERE user_id = $1 AND created_at > now() - interval '25 hours' AND ${isOpenSql('orders')}`,
      [userId],
    );
    return rows[0]?.open ?? 0;
  }

  async insert(tx: EntityManager, order: Order): Promise<void> {
    // `tx.insert` would also read columns with default values back, which takes five times as long.
    await tx.createQueryBuilder().insert().into(Order).values(order).updateEntity(false).execute();
    await tx.insert(OrderItem, order.items);
  }

  /**
   * Locks an order until the transaction ends, so that payment events are applied one after another. Loads no relations.
   * @param id id of the order or of one of its payment attempts
   */
  async lock(tx: EntityManager, id: string): Promise<LockedOrder | null> {
    const order = await tx
      .createQueryBuilder(Order, 'o')
      .setLock('pessimistic_write')
      .where('o.orderId = coalesce((SELECT order_id FROM payment_attempts WHERE attempt_id = :id), :id)', {
        id,
      })
      .getOne();
    return order as LockedOrder | null;
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
    if (refund === 'due')
      ids.andWhere(`(page.surplusAmount > 0 OR page.fulfilment = 'refused' AND ${isPaidSql('page')})`);
    if (search !== undefined) {
      const range = parseIdPrefix(search.replace(/^#/, ''));
      const digits = /^[\d +\-().]+$/.test(search) ? search.replaceAll(/\D/g, '') : '';
      // A join would look up the customer of every order, which is two to four times slower if few orders match.
      const conditions = [
        'page.userId IN (SELECT id FROM users WHERE fullname ILIKE :part OR email ILIKE :part)',
        ...(range === null ? [] : ['page.orderId BETWEEN :least AND :greatest']),
        ...(digits === '' ? [] : ["translate(page.phone, ' +-().', '') LIKE :digits"]),
      ];
      const parameters = { part: toLikePattern(search), digits: toLikePattern(digits), ...range };
      ids.andWhere(`(${conditions.join(' OR ')})`, parameters);
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

  #selectWithParts(): SelectQueryBuilder<Order> {
    return this.orders
      .createQueryBuilder('o')
      .leftJoinAndSelect('o.items', 'item')
      .leftJoinAndSelect('o.attempts', 'attempt')
      .orderBy({ 'item.position': 'ASC', 'attempt.number': 'ASC' });
  }
}

/**
 * Loads orders with customers and items. The items arrive as JSON arrays, because TypeORM reads each column of each row of a
 * join, and because PostgreSQL builds arrays faster than objects (docs/security.md).
 */
async function getManyWithItems(orders: SelectQueryBuilder<Order>): Promise<Order[]> {
  const { entities, raw } = await orders
    .innerJoin('o.customer', 'customer')
    .addSelect(CUSTOMER_COLUMNS)
    .addSelect(
      `(SELECT json_agg(json_build_array(product_id, name, price, quantity) ORDER BY position)
        FROM order_items WHERE order_items.order_id = o.order_id)`,
      'items',
    )
    .getRawAndEntities<{ o_order_id: string; items: [number, string, number, number][] | null }>();
  const items = new Map(raw.map((row) => [row.o_order_id, row.items ?? []]));
  return entities.map((order) => {
    const { orderId } = order;
    const rows = items.get(orderId) ?? [];
    return Object.assign(order, {
      items: rows.map(([productId, name, price, quantity]) => ({ productId, name, price, quantity })),
    });
  });
}

/** Builds the sort order of a page: newest first, or by pickup time. `alias`: alias of the table `orders`. */
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
