import { isUUID } from 'class-validator';
import type { OrderByCondition, Repository, SelectQueryBuilder } from 'typeorm';
import type { TimeRange } from '../common/calendar.js';
import { toLikePattern } from '../common/query.decorators.js';
import { isPaidSql } from './order-status.js';
import type { Order } from './order.entity.js';
import type { AdminOrdersQuery } from './orders-query.dto.js';

const PAGE_SIZE = 50;

/** Builds the sort order of a page: newest first, or by pickup time. @param alias alias of the table `orders` */
export function buildSortOrder(alias: string, pickup?: TimeRange): OrderByCondition {
  return pickup === undefined
    ? { [`${alias}.createdAt`]: 'DESC', [`${alias}.orderId`]: 'DESC' }
    : { [`${alias}.pickupAt`]: 'ASC', [`${alias}.orderId`]: 'ASC' };
}

/** Builds the query for the ids of a page of orders. `OrdersRepository.page` describes the parameters. */
export function selectPageIds(
  orders: Repository<Order>,
  query: AdminOrdersQuery,
  userId?: number,
  pickup?: TimeRange,
): SelectQueryBuilder<Order> {
  const { status, fulfilment, paid, refund, q: search, last_id: lastId } = query;
  const ids = orders
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

/** Returns the lowest and highest id that begin with a text; null if no id can. */
function parseIdPrefix(text: string): { readonly least: string; readonly greatest: string } | null {
  const [least = '', greatest = ''] = ['0', 'f'].map(
    (digit) => text + '00000000-0000-0000-0000-000000000000'.slice(text.length).replaceAll('0', digit),
  );
  return isUUID(least, 'loose') ? { least, greatest } : null;
}
