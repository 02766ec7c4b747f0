import type { EntityManager } from 'typeorm';
import { EXPIRY_DUE_AT, inSql, OPEN_STATUSES } from './order-status.js';

/** Payment that is authorized or in review. */
const IS_UNDECIDED = "(o.status = 'authorize' OR o.status = 'capture' AND o.fraud_status = 'challenge')";

/**
 * Orders to ask the gateway about: orders that were never paid and not cancelled, and orders whose payment is authorized or in
 * review. The index `orders_next_check_at_idx` has the same condition.
 */
const NEEDS_CHECKS = `(o.first_paid_at IS NULL AND o.status IN ${inSql(OPEN_STATUSES)} OR ${IS_UNDECIDED})`;

/**
 * Orders that are pending, authorized or in review are checked without end. The checks of an order with the status `expire` end
 * 10 minutes after the expiry, those of any other order 7 days after the expiry.
 */
const HAS_CHECKS_LEFT = `(o.status = 'pending' OR ${IS_UNDECIDED} OR ${EXPIRY_DUE_AT} >
  now() - CASE o.status WHEN 'expire' THEN interval '10 minutes' ELSE interval '7 days' END)`;

/** Gap between two checks, which doubles from 5 minutes to 6 hours. The cap of the exponent prevents an overflow. */
const GAP = `least(interval '5 minutes' * 2 ^ least(o.checks, 10), interval '6 hours')`;

/**
 * Time of the check at the expiry of an order. In the hour after it, the check is repeated every 5 minutes, because the clock of the
 * process that checks can be behind that of PostgreSQL. NULL later, and for a payment that does not expire: authorized or in review.
 */
const CHECK_AT_EXPIRY = `CASE WHEN NOT ${IS_UNDECIDED} AND ${EXPIRY_DUE_AT} > now() - interval '1 hour'
  THEN greatest(${EXPIRY_DUE_AT}, now() + interval '5 minutes') END`;

/** The cap of `checks` prevents an overflow of the column. SQL, because TypeORM cannot update rows that a subquery locks. */
const TAKE_DUE = `
  UPDATE orders AS o SET checks = least(o.checks + 1, 100), next_check_at = least(now() + ${GAP}, ${CHECK_AT_EXPIRY})
  WHERE order_id IN (
    SELECT order_id FROM orders AS o WHERE ${NEEDS_CHECKS} AND next_check_at <= now() AND ${HAS_CHECKS_LEFT}
    ORDER BY next_check_at LIMIT 200 FOR UPDATE SKIP LOCKED)
  RETURNING order_id`;

/** Takes at most 200 orders that are due for a check of their payment, and schedules the next check of each. Returns their ids. */
export async function takeDueForCheck(tx: EntityManager): Promise<string[]> {
  const [due] = await tx.query<[{ order_id: string }[], number]>(TAKE_DUE);
  return due.map(({ order_id }) => order_id);
}
