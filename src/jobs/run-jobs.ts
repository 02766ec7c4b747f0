import type { Logger } from '@nestjs/common';
import {
  Logger as WorkerLogger,
  run,
  type Runner,
  type RunnerOptions,
  type WorkerEvents,
} from 'graphile-worker';
import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { aborted } from 'node:util';
import { KindLimits } from './job-kinds.js';

const SECOND = 1000;
/** Jobs that run when the service stops have so long to end; their results are written after that. */
const STOP_MS = 5 * SECOND;
const RESULTS_MS = 2 * SECOND;
/** The same when the database is lost: no result can be written, and the queue should be back soon after it. */
const LOST_MS = SECOND;
/** Levels of graphile-worker that an operator should see; the rest is its chatter. */
const NEST_LEVELS: Readonly<Record<string, 'error' | 'warn'>> = { error: 'error', warning: 'warn' };

/**
 * Runs jobs until the service stops or the runner has lost its database. A runner that lost it is not used again: its
 * workers would wait for longer and longer, up to a minute, before they ask the database again.
 *
 * @param stopping aborted when the service stops
 * @param onStart told the id by which the runner's jobs are locked, once it takes jobs
 * @throws Error when the runner cannot start, or what made it end
 */
export async function runJobs(
  options: Pick<RunnerOptions, 'pgPool' | 'taskList' | 'parsedCronItems' | 'concurrency'>,
  logger: Logger,
  stopping: AbortSignal,
  onStart: (workerId: string) => void,
): Promise<void> {
  const events: WorkerEvents = new EventEmitter();
  const limits = new KindLimits(events);
  events.once('pool:create', ({ workerPool }) => {
    onStart(workerPool.id);
  });
  const lost = new Promise<never>((_, reject) => {
    for (const event of ['pool:listen:error', 'pool:fatalError'] as const)
      events.once(event, ({ error }) => {
        reject(error instanceof Error ? error : new Error(String(error)));
      });
  });
  lost.catch(ignore); // Awaited below, unless the runner cannot start.
  const runner = await run({
    ...options,
    events,
    forbiddenFlags: limits.forbiddenFlags,
    pollInterval: SECOND,
    noHandleSignals: true,
    // A pooler in transaction mode, such as PgBouncer, keeps no prepared statements; without them nothing is slower.
    noPreparedStatements: true,
    gracefulShutdownAbortTimeout: STOP_MS,
    logger: workerLogger(logger),
    // Without a delay of 0, graphile-worker 0.17 does not wait for the results of jobs that it writes, and one that
    // could not be written is an unhandled rejection.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
  });
  try {
    await Promise.race([runner.promise, lost, aborted(stopping, runner)]);
  } finally {
    const patienceMs = stopping.aborted ? STOP_MS + RESULTS_MS : LOST_MS;
    // Not only `stop`: 0.17 may wait for ever for two results that could not be written at the same time.
    await Promise.race([end(runner), delay(patienceMs, undefined, { ref: false })]);
  }
}

/** Lets running jobs end. */
async function end(runner: Runner): Promise<void> {
  await runner.stop().catch(ignore); // It may have stopped by itself.
  await runner.promise.catch(ignore); // Why it ended was seen above.
}

function workerLogger(logger: Logger): WorkerLogger {
  return new WorkerLogger(() => (level, message, meta) => {
    // A try that failed will be repeated; a job that is dead has a line of its own.
    const isFailedTry = meta?.failure === true;
    logger[isFailedTry ? 'warn' : (NEST_LEVELS[level] ?? 'verbose')](message);
  });
}

function ignore(): void {
  // See where it is used.
}
