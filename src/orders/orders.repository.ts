import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type OrderByCondition, Repository, type SelectQueryBuilder } from 'typeorm';
import type { TimeRange } from '../common/calendar.js';
import { toLikePattern } from '../database/like-pattern.js';
import type { AdminOrdersQuery } from './order-requests.dto.js';
import { IS_PAID, IS_REFUND_DUE } from './order-status.js';
import { Order } from './order.entity.js';

const PAGE_SIZE = 50;

interface OrdersFilter extends Omit<AdminOrdersQuery, 'pickup'> {
  readonly userId?: number | undefined;
  /** Selects orders with a pickup time on this day, sorted by pickup time. */
  readonly pickupDay?: TimeRange | undefined;
}

@Injectable()
export class OrdersRepository {
  constructor(@InjectRepository(Order) private readonly orders: Repository<Order>) {}

  /** Finds an order with its customer, items and attempts, in one statement, because clients poll their orders. */
  async find(where: Partial<Pick<Order, 'orderId' | 'userId' | 'idempotencyKey'>>): Promise<Order | null> {
    const query = this.orders
      .createQueryBuilder('o')
      .leftJoinAndSelect('o.attempts', 'attempt')
      .orderBy('attempt.number')
      .where(where);
    const [order = null] = await loadWithCustomersAndItems(query);
    return order;
  }

  findPage(filter: OrdersFilter): Promise<Order[]> {
    const ids = this.#selectPageIds(filter);
    const page = this.orders
      .createQueryBuilder('o')
      .leftJoinAndSelect('o.attempts', 'attempt')
      .orderBy({ ...buildSortOrder(filter), 'attempt.number': 'ASC' })
      .where(`o.orderId IN (${ids.getQuery()})`)
      .setParameters(ids.getParameters());
    return loadWithCustomersAndItems(page);
  }

  /**
   * Returns the paid orders of a range of days, except refused orders, with items and customers. Orders with a pickup time in
   * the range come first, by pickup time. Orders that were paid in the range and have no pickup time follow.
   * @param options.isUncollected selects only orders that are not collected
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
      .andWhere(IS_PAID)
      .andWhere("o.fulfilment <> 'refused'");
    return loadWithCustomersAndItems(isUncollected ? orders.andWhere("o.fulfilment <> 'collected'") : orders);
  }

  #selectPageIds(filter: OrdersFilter): SelectQueryBuilder<Order> {
    const { userId, pickupDay, status, fulfilment, paid, refund, q: search, last_id: lastId } = filter;
    const ids = this.orders
      .createQueryBuilder('o')
      .select('o.orderId')
      .orderBy(buildSortOrder(filter))
      .limit(PAGE_SIZE);
    if (pickupDay !== undefined) ids.andWhere('o.pickupAt >= :start AND o.pickupAt < :end', pickupDay);
    if (userId !== undefined) ids.andWhere('o.userId = :userId', { userId });
    if (status !== undefined) ids.andWhere('o.status = :status', { status });
    if (fulfilment !== undefined) ids.andWhere('o.fulfilment = :fulfilment', { fulfilment });
    if (paid !== undefined) ids.andWhere(paid ? IS_PAID : `NOT ${IS_PAID}`);
    if (refund === 'due') ids.andWhere(IS_REFUND_DUE);
    if (search !== undefined) {
      const prefix = search.replace(/^#/, '').toLowerCase();
      const digits = /^[\d +\-().]+$/.test(search) ? search.replaceAll(/\D/g, '') : '';
      // A join would look up the customer of every order, which is two to four times slower if few orders match.
      const conditions = [
        'o.userId IN (SELECT id FROM users WHERE fullname ILIKE :part OR email ILIKE :part)',
        ...(/^[\da-f-]+$/.test(prefix) ? ['starts_with(o.order_id::text, :prefix)'] : []),
        ...(digits === '' ? [] : ["translate(o.phone, ' +-().', '') LIKE :digits"]),
      ];
      const parameters = { part: toLikePattern(search), digits: toLikePattern(digits), prefix };
      ids.andWhere(`(${conditions.join(' OR ')})`, parameters);
    }
    if (lastId !== undefined) {
      // An order of another customer is not the start of a page: the page is empty (404).
      const [column, comparison] = pickupDay === undefined ? ['created_at', '<'] : ['pickup_at', '>'];
      const ownerCondition = userId === undefined ? 'true' : 'user_id = :userId';
      ids.andWhere(
        `(o.${column}, o.order_id) ${comparison}
           (SELECT ${column}, order_id FROM orders WHERE order_id = :lastId AND ${ownerCondition})`,
        { lastId },
      );
    }
    return ids;
  }
}

/**
 * Loads orders with customers and items. The items arrive as JSON: in a join, TypeORM would process every column of every row
 * (measured in docs/security.md). The JSON contains arrays, because PostgreSQL builds arrays faster than objects.
 */
async function loadWithCustomersAndItems(orders: SelectQueryBuilder<Order>): Promise<Order[]> {
  const { entities, raw } = await orders
    .innerJoin('o.customer', 'customer')
    .addSelect([
      'customer.id',
      'customer.fullname',
      'customer.email',
      'customer.emailVerifiedAt',
      'customer.language',
    ])
    .addSelect(
      `(SELECT json_agg(json_build_array(product_id, name, price, quantity) ORDER BY position)
        FROM order_items WHERE order_items.order_id = o.order_id)`,
      'items',
    )
    .getRawAndEntities<{ o_order_id: string; items: [number, string, number, number][] | null }>();
  const items = new Map(raw.map((row) => [row.o_order_id, row.items]));
  for (const order of entities) {
    const rows = items.get(order.orderId) ?? [];
    order.items = rows.map(([productId, name, price, quantity]) => ({ productId, name, price, quantity }));
  }
  return entities;
}

/** Builds the sort order of a page: newest first, or by pickup time. */
function buildSortOrder({ pickupDay }: OrdersFilter): OrderByCondition {
  return pickupDay === undefined
    ? { 'o.createdAt': 'DESC', 'o.orderId': 'DESC' }
    : { 'o.pickupAt': 'ASC', 'o.orderId': 'ASC' };
}
