import type { Logger } from '@nestjs/common';
import { Logger as WorkerLogger, parseCrontab, run, type Runner, type TaskList } from 'graphile-worker';
import type pg from 'pg';
import { setTimeout as delay } from 'node:timers/promises';
import { type LaneName, LANES } from './job-lanes.js';
import { RunnerEnd } from './runner-end.js';

const SECOND = 1000;
/** Between two attempts to find the database back. */
const RESTART_PAUSE_MS = 500;
/** What graphile-worker finds worth an operator's eye; the rest is its chatter. */
const NEST_LEVELS: Readonly<Record<string, 'error' | 'warn'>> = { error: 'error', warning: 'warn' };
/**
 * Without a delay graphile-worker 0.17 awaits nobody who writes a job's result: a database that goes away then is an
 * unhandled rejection, which ends the process, and a stop does not wait for it.
 */
const AWAITED_RESULTS = { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } } as const;

/** Runs the jobs of one lane, a graphile-worker runner of its own. */
export class LaneRunner {
  #isWorking = false;

  /**
   * @param crontab of this lane's tasks alone: whichever runner has a line enqueues its task
   * @param stopping aborted when the service stops
   * @param freeJobsOf frees what a runner that has ended was working at, by its pool's id
   */
  constructor(
    private readonly lane: LaneName,
    private readonly pool: pg.Pool,
    private readonly tasks: TaskList,
    private readonly crontab: string,
    private readonly logger: Logger,
    private readonly stopping: AbortSignal,
    private readonly freeJobsOf: (poolId: string) => Promise<void>,
  ) {}

  /** Whether it takes jobs at the moment. */
  get isWorking(): boolean {
    return this.#isWorking;
  }

  /** Runs jobs until the service stops; starts anew when the runner gave up on its database. */
  async run(): Promise<void> {
    let lostPoolId: string | undefined;
    while (!this.stopping.aborted) {
      const end = new RunnerEnd();
      let runner: Runner | undefined;
      const stop = (): void => void runner?.stop().catch(this.#ignoreWhileStopping);
      try {
        if (lostPoolId !== undefined) await this.freeJobsOf(lostPoolId);
        lostPoolId = undefined;
        runner = await run({
          pgPool: this.pool,
          taskList: this.tasks,
          concurrency: LANES[this.lane].concurrency,
          pollInterval: SECOND,
          noHandleSignals: true,
          logger: this.#workerLogger(),
          preset: AWAITED_RESULTS,
          events: end.events,
          // Parsed here: without any, a file `crontab` in the working directory would be obeyed.
          parsedCronItems: parseCrontab(this.crontab),
        });
        this.#isWorking = true;
        this.stopping.addEventListener('abort', stop);
        // Widened: it may have been aborted while the runner started, which the compiler cannot see.
        if (this.stopping.aborted as boolean) stop();
        await end.wait(runner);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        this.logger.warn(`the queue stopped and starts anew, lane ${this.lane}: ${reason}`);
      } finally {
        lostPoolId ??= end.poolId;
        this.#isWorking = false;
        this.stopping.removeEventListener('abort', stop);
      }
      await pauseUnlessStopping(RESTART_PAUSE_MS, this.stopping);
    }
  }

  readonly #ignoreWhileStopping = (error: unknown): void => {
    if (!this.stopping.aborted) throw error;
  };

  #workerLogger(): WorkerLogger {
    return new WorkerLogger(() => (level, message, meta) => {
      // A try that failed will be repeated; a job that is dead is reported by itself.
      const isFailedTry = meta?.failure === true;
      this.logger[isFailedTry ? 'warn' : (NEST_LEVELS[level] ?? 'verbose')](message);
    });
  }
}

/** Waits, but not when the service stops. */
export async function pauseUnlessStopping(milliseconds: number, stopping: AbortSignal): Promise<void> {
  await delay(milliseconds, undefined, { signal: stopping }).catch(() => {
    // Stopping: there is nothing to wait for.
  });
}
