import { isUUID } from 'class-validator';
import { failures } from '../common/errors.js';
import { ORDER_STATUSES, type OrderStatus } from './order-status.js';

/** Header under which a client repeats a creation without repeating the order. */
export const IDEMPOTENCY_KEY = 'Idempotency-Key';

export const ORDER_ID_PARAM = { name: 'order_id', schema: { type: 'string', format: 'uuid' } } as const;

/** Message of a status filter that is no status. */
export const UNKNOWN_STATUS = `status should be one of ${ORDER_STATUSES.join(', ')}`;

/** @throws Failure 404: what is no UUID is no order */
export function orderIdOf(text: string): string {
  if (!isUUID(text, 'loose')) throw failures.notFound();
  return text.toLowerCase();
}

/** @throws Failure 400 */
export function lastOrderIdOf(value: unknown): string | null {
  if (value === undefined) return null;
  if (!isUUID(value, 'loose')) throw failures.validation({ last_id: 'last_id should be the id of an order' });
  return (value as string).toLowerCase();
}

/** @throws Failure 400 */
export function statusFilterOf(value: unknown): OrderStatus | null {
  if (value === undefined) return null;
  const status = ORDER_STATUSES.find((candidate) => candidate === value);
  if (status === undefined) throw failures.validation({ status: UNKNOWN_STATUS });
  return status;
}

/** @throws Failure 400 */
export function parseIdempotencyKey(value: string | undefined): string | null {
  if (value === undefined) return null;
  if (value.length < 1 || value.length > 255) {
    throw failures.validation({ 'idempotency-key': 'Idempotency-Key should have 1 to 255 characters' });
  }
  return value;
}
