import { randomInt } from 'node:crypto';

/** Which external service a job calls. */
export type JobKind = 'mail' | 'payments' | 'images';

/**
 * Which jobs go first (the smallest priority does), and how many of a kind run at a time in all processes together. Each
 * job is in one of so many queues of its kind, and a queue runs one job at a time: 5,000 image removals at a host that
 * hangs delay neither a one-time code nor a payment check.
 */
const KINDS: Readonly<Record<JobKind, { readonly priority: number; readonly queues: number }>> = {
  mail: { priority: 0, queues: 4 },
  payments: { priority: 10, queues: 3 },
  images: { priority: 20, queues: 3 },
};

/** Workers of a process: as many as there are queues, so that no kind ever waits for another. */
export const WORKERS = Object.values(KINDS).reduce((sum, { queues }) => sum + queues, 0);

/** How graphile-worker is told the kind of a job. */
export function placeOf(kind: JobKind): { readonly queueName: string; readonly priority: number } {
  const { priority, queues } = KINDS[kind];
  return { queueName: `${kind}-${randomInt(queues)}`, priority };
}
