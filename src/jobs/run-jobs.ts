import { Logger } from '@nestjs/common';
import {
  Logger as WorkerLogger,
  type ParsedCronItem,
  run,
  type Runner,
  type RunnerOptions,
  type TaskList,
  type WorkerEvents,
} from 'graphile-worker';
import type { Pool } from 'pg';
import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

const SECOND = 1000;
/** Jobs that run when the service stops have so long to end; their results are written after that. */
const STOP_MS = 5 * SECOND;
const RESULTS_MS = 2 * SECOND;
/** The same when the database is lost: no result can be written, and the queue should be back soon after it. */
const LOST_MS = SECOND;
/** Levels of graphile-worker that an operator should see; the rest is its chatter. */
const NEST_LEVELS: Readonly<Record<string, 'error' | 'warn'>> = { error: 'error', warning: 'warn' };

const logger = new Logger('Jobs');
const OPTIONS = {
  pollInterval: SECOND,
  noHandleSignals: true,
  // A pooler in transaction mode, such as PgBouncer, keeps no prepared statements; without them nothing is slower.
  noPreparedStatements: true,
  gracefulShutdownAbortTimeout: STOP_MS,
  logger: new WorkerLogger(() => (level, message, meta) => {
    // A try that failed will be repeated; a job that is dead has a line of its own.
    const isFailedTry = meta?.failure === true;
    logger[isFailedTry ? 'warn' : (NEST_LEVELS[level] ?? 'verbose')](message);
  }),
  // Without a delay of 0, graphile-worker 0.17 does not wait for the results of jobs that it writes, and one that
  // could not be written is an unhandled rejection.
  preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
} as const satisfies RunnerOptions;

/** Which external service a job calls. */
export type JobKind = 'mail' | 'payments' | 'images';

/**
 * How many jobs of a kind a process runs at a time. Each kind has a runner of its own, so 5,000 image removals at a
 * host that hangs delay neither a one-time code nor a payment check.
 */
export const WORKERS: Readonly<Record<JobKind, number>> = { mail: 4, payments: 3, images: 3 };
const KINDS = Object.keys(WORKERS) as readonly JobKind[];

/**
 * Runs jobs until the service stops or a runner has lost its database. Runners that lost it are not used again: their
 * workers would wait for longer and longer, up to a minute, before they ask the database again.
 *
 * @param cron of tasks of the kind `payments`
 * @param stopping aborted when the service stops
 * @param onStart told the ids by which jobs are locked
 * @throws Error when a runner cannot start, or what made it end
 */
export async function runJobs(
  pgPool: Pool,
  tasks: Readonly<Record<JobKind, TaskList>>,
  cron: ParsedCronItem[],
  stopping: AbortSignal,
  onStart: (worker: string) => void,
): Promise<void> {
  const events: WorkerEvents = new EventEmitter();
  events.on('pool:create', ({ workerPool }) => {
    onStart(workerPool.id);
  });
  const lost = new Promise<never>((_, reject) => {
    for (const event of ['pool:listen:error', 'pool:fatalError'] as const)
      events.on(event, ({ error }) => {
        reject(error instanceof Error ? error : new Error(String(error)));
      });
  });
  lost.catch(ignore); // Awaited below, unless a runner cannot start.
  const runners: Runner[] = [];
  try {
    for (const kind of KINDS) {
      const options = { pgPool, events, taskList: tasks[kind], concurrency: WORKERS[kind] };
      runners.push(await run({ ...OPTIONS, ...options, parsedCronItems: kind === 'payments' ? cron : [] }));
    }
    await Promise.race([lost, aborted(stopping), ...runners.map(({ promise }) => promise)]);
  } finally {
    const patienceMs = stopping.aborted ? STOP_MS + RESULTS_MS : LOST_MS;
    // Not only `stop`: 0.17 may wait for ever for two results that could not be written at the same time.
    await Promise.race([Promise.all(runners.map(end)), delay(patienceMs, undefined, { ref: false })]);
  }
}

/** Lets running jobs end. */
async function end(runner: Runner): Promise<void> {
  await runner.stop().catch(ignore); // It may have stopped by itself.
  await runner.promise.catch(ignore); // Why it ended was seen above.
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => {
      resolve();
    });
  });
}

function ignore(): void {
  // See where it is used.
}
