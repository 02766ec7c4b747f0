import type { EntityManager } from 'typeorm';
import { failures } from '../common/errors/failures.js';
import { Order } from './order.entity.js';

declare const LOCKED: unique symbol;
/** Order whose row is locked until the transaction ends. Only `lockOrder` returns one. */
export type LockedOrder = Order & { readonly [LOCKED]: true };
/** Customer whose further orders wait until the transaction ends. Only `lockPlacement` returns one. */
export interface PlacementLock {
  readonly userId: number;
  readonly [LOCKED]: true;
}

/** First key of the advisory lock that serializes the orders of a customer. The second key is the id of the customer. */
const PLACEMENT_LOCK = 1_766_432;

/**
 * Locks an order, so that payment events are applied one after another. Loads no relations.
 * @param id id of the order or of one of its payment attempts
 */
export async function lockOrder(tx: EntityManager, id: string): Promise<LockedOrder | null> {
  const order = await tx
    .createQueryBuilder(Order, 'o')
    .setLock('pessimistic_write')
    .where('o.orderId = coalesce((SELECT order_id FROM payment_attempts WHERE attempt_id = :id), :id)', {
      id,
    })
    .getOne();
  return order as LockedOrder | null;
}

/** @throws Failure 404 */
export async function lockOrderOrFail(tx: EntityManager, id: string): Promise<LockedOrder> {
  const order = await lockOrder(tx, id);
  if (order === null) throw failures.notFound();
  return order;
}

export async function lockPlacement(tx: EntityManager, userId: number): Promise<PlacementLock> {
  await tx.query('SELECT pg_advisory_xact_lock($1, $2)', [PLACEMENT_LOCK, userId]);
  return { userId } as PlacementLock;
}
