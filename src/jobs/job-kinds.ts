/** Which external service a job calls. */
export type JobKind = 'mail' | 'payments' | 'images';

/**
 * How many jobs of a kind run at a time, in all processes together, and which go first: the smallest priority does.
 * The limits keep a service that hangs from taking every worker: 5,000 image removals at a dead host delay neither a
 * one-time code nor a payment check.
 */
const KINDS: Readonly<Record<JobKind, { readonly priority: number; readonly limit: number }>> = {
  mail: { priority: 0, limit: 4 },
  payments: { priority: 10, limit: 3 },
  images: { priority: 20, limit: 3 },
};

/** Workers of a process: as many as the limits add up to, so that no kind ever waits for another. */
export const WORKERS = Object.values(KINDS).reduce((sum, { limit }) => sum + limit, 0);

/** Where a job waits. */
export interface Place {
  /** graphile-worker runs the jobs of one named queue one after the other; null: no limit. */
  readonly queueName: string | null;
  readonly priority: number;
}

let turn = 0;

/** The place of the next job of a kind: its queues take turns. */
export function nextPlace(kind: JobKind | undefined): Place {
  if (kind === undefined) return { queueName: null, priority: 0 };
  const { priority, limit } = KINDS[kind];
  turn += 1;
  return { queueName: `${kind}-${turn % limit}`, priority };
}
