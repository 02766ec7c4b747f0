import type { Runner, WorkerEvents } from 'graphile-worker';
import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

/** Time for the results of the last jobs to be written, once no job runs any more. */
const RESULTS_DEADLINE_MS = 2_000;
/** The same where a result could not be written already: the other ones meet the same fate. */
const LOST_RESULTS_DEADLINE_MS = 100;

/** After so many vain attempts to listen for jobs, about a second, a runner starts anew rather than waiting longer. */
const MAX_LISTEN_FAILURES = 3;

/**
 * Knows when a graphile-worker runner is at its end. `runner.promise` alone does not: in 0.17.3 two job results that
 * cannot be written at the same time are counted down three times, and the runner waits for ever for the count to
 * be zero, which would leave the queue dead and a stop without end. And its gaps between attempts to listen grow to
 * a minute, so that after an outage jobs would be found by polling alone for as long.
 */
export class RunnerEnd {
  /** To be given to the runner. */
  readonly events: WorkerEvents = new EventEmitter();
  #poolId: string | undefined;
  #hasLostResults = false;
  #listenFailures = 0;
  readonly #isIdle: Promise<void>;
  readonly #isDeaf: Promise<void>;

  constructor() {
    this.events.once('pool:create', ({ workerPool }) => (this.#poolId = workerPool.id));
    this.events.once('pool:fatalError', () => (this.#hasLostResults = true));
    this.events.on('pool:listen:success', () => (this.#listenFailures = 0));
    this.#isDeaf = new Promise((resolve) => {
      this.events.on('pool:listen:error', () => {
        this.#listenFailures += 1;
        if (this.#listenFailures >= MAX_LISTEN_FAILURES) resolve();
      });
    });
    this.#isIdle = new Promise((resolve) => {
      const done = (): void => {
        resolve();
      };
      this.events.once('pool:gracefulShutdown:complete', done);
      this.events.once('pool:forcefulShutdown:complete', done);
      this.events.once('pool:forcefulShutdown:error', done);
    });
  }

  /** What the runner's jobs are locked by; undefined when it did not start. */
  get poolId(): string | undefined {
    return this.#poolId;
  }

  /**
   * Waits until a runner takes no jobs, runs none and writes nothing, whether it was stopped or gave up.
   * @throws what made it give up
   */
  async wait(runner: Runner): Promise<void> {
    const patience = new AbortController();
    const stop = (): void => void runner.stop().catch(ignore);
    void this.#isDeaf.then(stop);
    const overdue = this.#isIdle.then(async () => {
      const deadlineMs = this.#hasLostResults ? LOST_RESULTS_DEADLINE_MS : RESULTS_DEADLINE_MS;
      await delay(deadlineMs, undefined, { signal: patience.signal }).catch(() => {
        // It ended by itself.
      });
    });
    try {
      await Promise.race([runner.promise, overdue]);
    } finally {
      patience.abort();
      stop(); // Its clock would go on.
    }
  }
}

/** A runner that has stopped already says so by failing; why it gave up is what `runner.promise` tells. */
function ignore(): void {
  // See above.
}
