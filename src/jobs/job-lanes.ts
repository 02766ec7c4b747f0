/** Which neighbour a task calls: tasks that wait for different ones do not wait for each other. */
export type LaneName = 'mail' | 'payments' | 'images';

export interface Lane {
  /** Jobs that one process runs at a time. */
  readonly concurrency: number;
  /** Smaller goes first. It also keeps few urgent jobs from being looked for behind thousands of others. */
  readonly priority: number;
}

/**
 * Every lane has workers of its own, so that a neighbour that hangs takes no more than its own ones: 5,000 image
 * removals against a dead host hold up neither a one-time password nor a payment check.
 */
export const LANES: Readonly<Record<LaneName, Lane>> = {
  mail: { concurrency: 4, priority: 0 },
  payments: { concurrency: 3, priority: 0 },
  images: { concurrency: 3, priority: 10 },
};

export const LANE_NAMES: readonly LaneName[] = ['mail', 'payments', 'images'];
