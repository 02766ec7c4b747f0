import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, type OrderByCondition, Repository, type SelectQueryBuilder } from 'typeorm';
import type { TimeRange } from '../common/calendar.js';
import { pipelined } from '../common/pipelined.js';
import { selectPageIds, buildSortOrder } from './order-page-ids.js';
import { isPaidSql } from './order-status.js';
import { Order, OrderItem } from './order.entity.js';
import type { AdminOrdersQuery } from './orders-query.dto.js';
import { PaymentAttempt } from './payment-attempt.entity.js';

const DAY_SHEET_COLUMNS = [
  ...listColumns('o', 'orderId status fulfilment grossAmount refundedAmount paymentType fraudStatus'),
  ...listColumns('o', 'completedAt firstPaidAt createdAt pickupAt phone note'),
  ...listColumns('item', 'orderId position productId name price quantity'),
  ...listColumns('customer', 'id fullname email'),
];

@Injectable()
export class OrdersRepository {
  constructor(@InjectRepository(Order) private readonly orders: Repository<Order>) {}

  /** Finds an order with items and attempts, in one statement because clients poll it. */
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
   * @param pickup selects only orders that are collected in this range, and sorts by pickup time instead of newest first
   */
  page(query: AdminOrdersQuery, userId?: number, pickup?: TimeRange): Promise<Order[]> {
    const ids = selectPageIds(this.orders, query, userId, pickup);
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

  /** Inserts an order with its items and its first attempt. */
  async insert(tx: EntityManager, order: Order, attempt: PaymentAttempt): Promise<void> {
    await pipelined(
      // `tx.insert` would read generated columns back, which takes a fifth of the time.
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

  #selectWithCustomer(orderBy?: OrderByCondition): SelectQueryBuilder<Order> {
    return this.#selectWithParts(orderBy)
      .innerJoin('o.customer', 'customer')
      .addSelect(['customer.id', 'customer.fullname', 'customer.email', 'customer.emailVerifiedAt']);
  }

  #selectWithParts(orderBy: OrderByCondition = {}): SelectQueryBuilder<Order> {
    return this.orders
      .createQueryBuilder('o')
      .leftJoinAndSelect('o.items', 'item')
      .leftJoinAndSelect('o.attempts', 'attempt')
      .orderBy({ ...orderBy, 'item.position': 'ASC', 'attempt.number': 'ASC' });
  }
}

function listColumns(alias: string, properties: string): string[] {
  return properties.split(' ').map((property) => `${alias}.${property}`);
}
