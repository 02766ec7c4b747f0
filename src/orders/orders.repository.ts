import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type OrderByCondition, Repository, type SelectQueryBuilder } from 'typeorm';
import type { TimeRange } from '../common/calendar.js';
import type { AdminOrdersQuery } from './order-requests.dto.js';
import { IS_PAID, IS_REFUND_DUE } from './order-status.js';
import { Order } from './order.entity.js';

const PAGE_SIZE = 50;

interface OrdersFilter extends Omit<AdminOrdersQuery, 'pickup'> {
  readonly userId?: number | undefined;
  /** Selects orders with a pickup time on this day, sorted by pickup time. */
  readonly pickupDay?: TimeRange | undefined;
}

/** Product id, name, price and quantity of an item. */
type StoredItem = [number, string, number, number];
/** Id, token, URL and end of the payment page of an attempt. */
type StoredAttempt = [string, string | null, string | null, string | null];

@Injectable()
export class OrdersRepository {
  constructor(@InjectRepository(Order) private readonly orders: Repository<Order>) {}

  async find(
    where: Partial<Pick<Order, 'orderId' | 'userId' | 'idempotencyKey'>>,
    manager = this.orders.manager,
  ): Promise<Order | null> {
    const [order = null] = await loadOrders(manager.createQueryBuilder(Order, 'o').where(where));
    return order;
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
    return loadOrders(isUncollected ? orders.andWhere("o.fulfilment <> 'collected'") : orders);
  }

  findPage(filter: OrdersFilter): Promise<Order[]> {
    const { userId, pickupDay, status, fulfilment, paid, refund, q: search, last_id: lastId } = filter;
    const page = this.orders.createQueryBuilder('o').orderBy(buildSortOrder(filter)).limit(PAGE_SIZE);
    if (pickupDay !== undefined) page.andWhere('o.pickupAt >= :start AND o.pickupAt < :end', pickupDay);
    if (userId !== undefined) page.andWhere('o.userId = :userId', { userId });
    if (status !== undefined) page.andWhere('o.status = :status', { status });
    if (fulfilment !== undefined) page.andWhere('o.fulfilment = :fulfilment', { fulfilment });
    if (paid !== undefined) page.andWhere(paid ? IS_PAID : `NOT ${IS_PAID}`);
    if (refund === 'due') page.andWhere(IS_REFUND_DUE);
    if (search !== undefined) {
      const prefix = search.replace(/^#/, '').toLowerCase();
      const digits = /^[\d +\-().]+$/.test(search) ? search.replaceAll(/\D/g, '') : '';
      // A join would look up the customer of every order, which is two to four times slower if few orders match.
      const conditions = [
        `o.userId IN (SELECT id FROM users
          WHERE strpos(lower(fullname), lower(:search)) > 0 OR strpos(lower(email), lower(:search)) > 0)`,
        ...(/^[\da-f-]+$/.test(prefix) ? ['starts_with(o.order_id::text, :prefix)'] : []),
        ...(digits === '' ? [] : ["strpos(translate(o.phone, ' +-().', ''), :digits) > 0"]),
      ];
      page.andWhere(`(${conditions.join(' OR ')})`, { search, digits, prefix });
    }
    if (lastId !== undefined) {
      // An order of another customer is not the start of a page: the page is empty (404).
      const [column, comparison] = pickupDay === undefined ? ['created_at', '<'] : ['pickup_at', '>'];
      const ownerCondition = userId === undefined ? 'true' : 'user_id = :userId';
      page.andWhere(
        `(o.${column}, o.order_id) ${comparison}
           (SELECT ${column}, order_id FROM orders WHERE order_id = :lastId AND ${ownerCondition})`,
        { lastId },
      );
    }
    return loadOrders(page);
  }
}

/**
 * Loads orders with customers, items and attempts, in one statement, because clients poll their orders. The items and attempts
 * arrive as JSON: in a join, TypeORM would process every column of every row (measured in docs/security.md). The JSON contains
 * arrays, because PostgreSQL builds arrays faster than objects.
 */
async function loadOrders(orders: SelectQueryBuilder<Order>): Promise<Order[]> {
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
    .addSelect(
      `(SELECT json_agg(json_build_array(attempt_id, token, redirect_url, expires_at) ORDER BY number)
        FROM payment_attempts WHERE payment_attempts.order_id = o.order_id)`,
      'attempts',
    )
    .getRawAndEntities<{ items: StoredItem[] | null; attempts: StoredAttempt[] | null }>();
  for (const [index, order] of entities.entries()) {
    const { items, attempts } = raw[index] ?? {};
    order.items = (items ?? []).map(([productId, name, price, quantity]) => {
      return { productId, name, price, quantity };
    });
    order.attempts = (attempts ?? []).map(([attemptId, token, redirectUrl, expiresAt]) => {
      return { attemptId, token, redirectUrl, expiresAt: expiresAt === null ? null : new Date(expiresAt) };
    });
  }
  return entities;
}

/** Builds the sort order of a page: newest first, or by pickup time. */
function buildSortOrder({ pickupDay }: OrdersFilter): OrderByCondition {
  return pickupDay === undefined
    ? { 'o.createdAt': 'DESC', 'o.orderId': 'DESC' }
    : { 'o.pickupAt': 'ASC', 'o.orderId': 'ASC' };
}
