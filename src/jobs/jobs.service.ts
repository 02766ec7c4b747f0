import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { context, propagation, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import type { Job, TaskList } from 'graphile-worker';
import { DataSource, type EntityManager } from 'typeorm';
import { errorMessage } from '../common/errors/error-info.js';
import { Failure } from '../common/errors/failures.js';
import { runInSpan } from '../common/observability/tracing.js';
import { Database } from '../database/database.js';
import { type JobHandler, PermanentJobError, withDeadline } from './job-handler.js';
import { type JobKind, KINDS } from './job-kinds.js';
import { JobQueue } from './job-queue.js';
import { endRetries, JOB_DEADLINE_MS } from './job-table.js';
import { jobDuration, mails } from './jobs.metrics.js';

interface EnqueueOptions {
  /** Subject of the job, for example the id of an order. A new job replaces a waiting job of the same task and subject. */
  readonly subject?: string;
  readonly runAt?: Date | undefined;
}

/**
 * Durable jobs on PostgreSQL (graphile-worker), enqueued in the transaction that causes them. Commands do not
 * call `start`: their jobs wait for the service.
 */
@Injectable()
export class JobsService implements OnModuleDestroy {
  readonly queue: JobQueue;
  readonly #tasks: TaskList = {};
  readonly #kinds = new Map<string, JobKind | undefined>();
  /** Interval in seconds of each repeated task. */
  readonly #repeated = new Map<string, number>();
  readonly #logger = new Logger('Jobs');
  readonly #stop = new AbortController();
  #running = Promise.resolve();

  constructor(
    private readonly database: Database,
    private readonly dataSource: DataSource,
  ) {
    this.queue = new JobQueue(database.url);
  }

  /** Registers the handler of a task. Call it from `onModuleInit`, before the queue starts. */
  handle<P>(task: string, handler: JobHandler<P>, kind?: JobKind): void {
    this.#kinds.set(task, kind);
    this.#tasks[task] = async (payload, { job, abortSignal }) => {
      const { traceparent } = payload as { readonly traceparent?: string };
      const end = jobDuration.startTimer({ task });
      try {
        await inJobSpan(task, traceparent, () =>
          withDeadline(handler(payload as P), { task, deadlineMs: JOB_DEADLINE_MS, stopped: abortSignal }),
        );
        end({ outcome: 'done' });
      } catch (thrown) {
        // The message of a Failure is for clients. Its cause tells operators what happened.
        const error = thrown instanceof Failure ? (thrown.cause ?? thrown) : thrown;
        const isDead = await this.#endIfPermanent(job, error);
        if (isDead) {
          const reason = errorMessage(error);
          this.#logger.error(
            `dead job ${job.id} (${task}): ${reason}; see npm run jobs -- list --state dead`,
          );
        }
        end({ outcome: isDead ? 'dead' : 'failed' });
        if (kind === 'mail' || kind === 'code-mail') mails.inc({ outcome: isDead ? 'dead' : 'retried' });
        throw error;
      }
    };
  }

  /**
   * Ends the retries of a job after a permanent error. Returns true if the job is dead: it has no try left, and no newer job
   * has taken its key.
   */
  async #endIfPermanent({ id, attempts, max_attempts }: Job, error: unknown): Promise<boolean> {
    const isLastTry = attempts >= max_attempts;
    if (!isLastTry && !(error instanceof PermanentJobError)) return false;
    // Without the database, a job with tries is retried, and fails permanently once more.
    return endRetries(this.queue.pool, id).catch(() => isLastTry);
  }

  /** Registers a task that every process enqueues once in `gapSeconds`. A job that still waits is replaced. */
  repeat(task: string, handler: () => Promise<unknown>, gapSeconds = 60): void {
    this.handle(task, handler);
    this.#repeated.set(task, gapSeconds);
  }

  /**
   * Adds a job. In a transaction of the manager, the job exists if and when the transaction commits. The payload must not
   * contain secrets.
   */
  async enqueue(
    manager: EntityManager,
    task: string,
    payload: object,
    { subject, runAt }: EnqueueOptions,
  ): Promise<void> {
    const kind = this.#kinds.get(task);
    const { priority, tries } = KINDS[kind ?? 'mail'];
    // Each job needs a key: a dead job that never had a key would look superseded and would be deleted (`IS_SUPERSEDED`).
    const key = subject === undefined ? task : `${task}:${subject}`;
    await manager.query(
      `SELECT graphile_worker.add_job($1, $2::json, run_at := $3, max_attempts := $4, job_key := $5, priority := $6,
         flags := $7::text[])`,
      [
        task,
        JSON.stringify({ ...payload, traceparent: currentTraceparent() }), // absent if it is undefined
        runAt ?? null,
        tries,
        key,
        priority,
        kind === undefined ? null : [kind],
      ],
    );
  }

  /** Starts the queue. Call it after every module is initialized. */
  start(): void {
    this.#running = this.queue.run({
      taskList: this.#tasks,
      isExclusive: this.database.isExclusive === true,
      stopping: this.#stop.signal,
    });
    for (const [task, gapSeconds] of this.#repeated) void this.#enqueueRepeatedly(task, gapSeconds * 1000);
  }

  async #enqueueRepeatedly(task: string, gapMs: number): Promise<void> {
    const { signal } = this.#stop;
    while (await delay(gapMs, true, { signal }).catch(() => false)) {
      await this.enqueue(this.dataSource.manager, task, {}, {}).catch((error: unknown) => {
        // The queue itself reports an outage of the database.
        if (this.queue.isWorking) this.#logger.warn(`${task} was not enqueued: ${errorMessage(error)}`);
      });
    }
  }

  /** Stops fetching jobs without waiting for running jobs. `onModuleDestroy` waits for them. */
  beginStop(): void {
    this.#stop.abort();
  }

  /**
   * Waits up to 5 seconds for running jobs, and up to 2 more seconds until their results are stored. Unfinished and waiting
   * jobs remain for the next process.
   */
  async onModuleDestroy(): Promise<void> {
    this.beginStop();
    await this.#running;
    await this.queue.pool.end();
  }
}

/** Returns the `traceparent` header of the current span (W3C Trace Context); undefined outside of any span. */
function currentTraceparent(): string | undefined {
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
}

/** Runs a job in a new trace, because jobs may wait for days. The trace links to the span that enqueued the job. */
function inJobSpan<T>(task: string, traceparent: string | undefined, work: () => Promise<T>) {
  const enqueued = trace.getSpanContext(propagation.extract(ROOT_CONTEXT, { traceparent }));
  const options = {
    kind: SpanKind.CONSUMER,
    root: true,
    links: enqueued === undefined ? [] : [{ context: enqueued }],
    attributes: { 'job.task': task },
  };
  return runInSpan(`job ${task}`, options, work);
}
