/** What becomes of a notification: `late` is kept but not applied. */
export type Outcome = 'applied' | 'duplicate' | 'late';

/** What is kept of a transaction when one more notification of it arrives. */
export interface TransactionHistory {
  /** The same delivery was received before. */
  readonly isRedelivery: boolean;
  /** Statuses of this transaction that were applied. */
  readonly appliedStatuses: readonly string[];
}

/** A transaction begins with these, in this order; whatever else comes after them. */
const FIRST_STATUSES = ['pending', 'authorize'];

function rank(status: string): number {
  const index = FIRST_STATUSES.indexOf(status);
  return index === -1 ? FIRST_STATUSES.length : index;
}

/**
 * Decides on a notification (decisions.md, Payment notifications): a redelivery changes nothing, a beginning that
 * arrives after what follows it is late, everything else applies, `deny` after `settlement` included.
 */
export function outcomeOf(status: string, { isRedelivery, appliedStatuses }: TransactionHistory): Outcome {
  if (isRedelivery) return 'duplicate';
  return appliedStatuses.some((applied) => rank(applied) > rank(status)) &&
    rank(status) < FIRST_STATUSES.length
    ? 'late'
    : 'applied';
}
