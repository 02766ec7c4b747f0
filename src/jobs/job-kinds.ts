import type { Job, WorkerEvents } from 'graphile-worker';

/** Which external service a job calls. */
export type JobKind = 'mail' | 'payments' | 'images';

/** How many jobs of a kind a process runs at a time, and which go first: the smallest priority does. */
const KINDS: Readonly<Record<JobKind, { readonly priority: number; readonly limit: number }>> = {
  mail: { priority: 0, limit: 4 },
  payments: { priority: 10, limit: 3 },
  images: { priority: 20, limit: 3 },
};
const KIND_NAMES = Object.keys(KINDS) as readonly JobKind[];

/** Workers of a process: as many as the limits add up to, so that no kind ever waits for another. */
export const WORKERS = Object.values(KINDS).reduce((sum, { limit }) => sum + limit, 0);

/** Jobs that call no external service are quick, and go first. */
export function priorityOf(kind: JobKind | undefined): number {
  return kind === undefined ? 0 : KINDS[kind].priority;
}

/**
 * Keeps a service that hangs from taking every worker of a runner: 5,000 image removals at a dead host delay neither a
 * one-time code nor a payment check. A job's kind is a flag of it.
 */
export class KindLimits {
  readonly #running = new Set<Job>();
  /** Ends when the worker that asked last has taken a job, or found none. */
  #lastTaking: Promise<void> = Promise.resolve();
  #endTaking: () => void = () => undefined;

  /** @param events of the runner */
  constructor(events: WorkerEvents) {
    events.on('job:start', ({ job }) => {
      this.#running.add(job);
    });
    events.on('job:complete', ({ job }) => {
      this.#running.delete(job);
    });
    for (const event of ['job:start', 'worker:getJob:empty', 'worker:getJob:error'] as const)
      events.on(event, () => {
        this.#endTaking();
      });
  }

  /** The runner's `forbiddenFlags`. Its workers take turns, or several at once would pass the limit together. */
  readonly forbiddenFlags = async (): Promise<string[]> => {
    const before = this.#lastTaking;
    let endTaking: () => void = () => undefined;
    this.#lastTaking = new Promise((resolve) => (endTaking = resolve));
    await before;
    this.#endTaking = endTaking;
    return KIND_NAMES.filter((kind) => {
      const running = [...this.#running].filter(({ flags }) => flags?.[kind] === true);
      return running.length >= KINDS[kind].limit;
    });
  };
}
