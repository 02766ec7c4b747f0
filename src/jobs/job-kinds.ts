import type { Job, WorkerEvents } from 'graphile-worker';

/** About four days, with graphile-worker's gaps of exp(min(attempt, 10)) seconds. */
export const DEFAULT_TRIES = 25;
/** Maximum of a smallint. With a retry every six hours, the tries last for 22 years. */
const UNLIMITED_TRIES = 32_767;

/**
 * Rules for the jobs of each kind. Priority 0 runs first. `limit`: maximum number of jobs of the kind that a process runs at a
 * time. A job without a kind has the priority and the tries of a mail, and no limit.
 */
export const KINDS = {
  mail: { priority: 0, tries: DEFAULT_TRIES, limit: 2 },
  // Anyone can cause these mails. A flood of them must not delay receipts.
  'code-mail': { priority: 5, tries: DEFAULT_TRIES, limit: 2 },
  payments: { priority: 10, tries: DEFAULT_TRIES, limit: 3 },
  // An image that is not removed stays at its host forever.
  images: { priority: 20, tries: UNLIMITED_TRIES, limit: 3 },
};
/** Group of jobs with common rules: those that call one external service, or lead to such a call. Other jobs have no kind. */
export type JobKind = keyof typeof KINDS;
const KIND_NAMES = Object.keys(KINDS) as readonly JobKind[];

/** Number of workers of a process: the sum of the limits, so that a kind at its limit leaves workers to the others. */
export const WORKERS = Object.values(KINDS).reduce((sum, { limit }) => sum + limit, 0);

/**
 * Limits the number of jobs of each kind that a runner runs at a time, so that an external service that hangs cannot
 * occupy every worker. The kind of a job is one of the job's flags.
 */
export class KindLimits {
  readonly #running = new Set<Job>();
  /** Resolves when the latest fetch has ended: its worker has a job, the queue is empty, or the fetch failed. */
  #lastFetch: Promise<void> = Promise.resolve();
  #endFetch: () => void = () => undefined;

  constructor(events: WorkerEvents) {
    events.on('job:start', ({ job }) => {
      this.#running.add(job);
    });
    events.on('job:complete', ({ job }) => {
      this.#running.delete(job);
    });
    for (const event of ['job:start', 'worker:getJob:empty', 'worker:getJob:error'] as const)
      events.on(event, () => {
        this.#endFetch();
      });
  }

  /**
   * Returns the kinds that have reached their limits. Each worker calls this function before it fetches a job. The call
   * waits until the previous fetch has ended. Otherwise two workers could both take the last free place of a kind.
   */
  readonly forbiddenFlags = async (): Promise<string[]> => {
    const previousFetch = this.#lastFetch;
    this.#lastFetch = previousFetch.then(() => new Promise((resolve) => (this.#endFetch = resolve)));
    await previousFetch;
    return KIND_NAMES.filter((kind) => {
      const running = [...this.#running].filter(({ flags }) => flags?.[kind] === true);
      return running.length >= KINDS[kind].limit;
    });
  };
}
