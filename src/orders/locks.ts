import type { EntityManager } from 'typeorm';
import { failures } from '../common/errors/failures.js';
import { Order, type OrderRow } from './order.entity.js';

declare const LOCKED: unique symbol;
/** Order whose row is locked until the transaction ends. Only the functions of this file return one. */
export type LockedOrder = OrderRow & { readonly [LOCKED]: true };

/**
 * Locks an order, so that payment events and steps are applied one after another.
 * @throws Failure 404
 */
export async function lockOrderOrFail(tx: EntityManager, orderId: string): Promise<LockedOrder> {
  const order: OrderRow | null = await tx.findOne(Order, {
    where: { orderId },
    lock: { mode: 'pessimistic_write' },
  });
  if (order === null) throw failures.notFound();
  return order as LockedOrder;
}

/** Locks the order of a payment attempt. Returns null if no order has this attempt. */
export async function lockOrderOfAttempt(tx: EntityManager, attemptId: string): Promise<LockedOrder | null> {
  const order: OrderRow | null = await tx
    .createQueryBuilder(Order, 'o')
    .setLock('pessimistic_write')
    .where('o.orderId = (SELECT order_id FROM payment_attempts WHERE attempt_id = :attemptId)', { attemptId })
    .getOne();
  return order as LockedOrder | null;
}
