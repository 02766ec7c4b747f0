import { isCompleted, type OrderStatus } from '../orders/order-status.js';

/** What becomes of a notification: `late` is kept but not applied. */
export type Outcome = 'applied' | 'duplicate' | 'late';

/** What is known of a transaction and its order when news of it arrives. */
export interface KnownTransaction {
  /** The news was received before. */
  readonly isRedelivery: boolean;
  /** It belongs to another payment attempt than the one that the order's status comes from or is to come from. */
  readonly isOfOtherAttempt: boolean;
  /** Statuses of this transaction that were applied. */
  readonly appliedStatuses: readonly OrderStatus[];
}

/** A transaction begins with these, in this order; whatever else comes after them. */
const FIRST_STATUSES: readonly OrderStatus[] = ['pending', 'authorize'];

function rank(status: OrderStatus): number {
  const index = FIRST_STATUSES.indexOf(status);
  return index === -1 ? FIRST_STATUSES.length : index;
}

/**
 * Decides on a notification (decisions.md, Payment notifications): a redelivery changes nothing, a beginning that
 * arrives after what follows it is late, everything else applies, `deny` after `settlement` included. Of an attempt
 * that no longer counts only a completion does: the end of its page must not undo a sale made on the next one.
 */
export function outcomeOf(
  status: OrderStatus,
  { isRedelivery, isOfOtherAttempt, appliedStatuses }: KnownTransaction,
): Outcome {
  if (isRedelivery) return 'duplicate';
  if (isOfOtherAttempt && !isCompleted(status)) return 'late';
  return appliedStatuses.some((applied) => rank(applied) > rank(status)) &&
    rank(status) < FIRST_STATUSES.length
    ? 'late'
    : 'applied';
}
