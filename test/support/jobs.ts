import type { Pool } from 'pg';
import { type TestDatabase, withRejectedWrites } from './databases.js';
import { until } from './wait.js';

/** Schema of the job queue. Only this file and the test of the migrations know its tables. */
export const QUEUE_SCHEMA = 'graphile_worker';
const JOBS = `${QUEUE_SCHEMA}._private_jobs`;

interface JobRow {
  readonly id: string;
  readonly key: string | null;
  readonly payload: { readonly orderId?: string; readonly mail?: string };
  readonly attempts: number;
  readonly max_attempts: number;
  readonly last_error: string | null;
  readonly locked_by: string | null;
  readonly flags: Readonly<Record<string, true>> | null;
  /**
   * Seconds until the job may run; negative if the job is due. Computed with `clock_timestamp()`, because `now()` can be earlier
   * than the `run_at` of a job that the statement sees.
   */
  readonly due_in: number;
}

interface NewJob {
  /** By default the task, as for repeated tasks. With null, the job has no key and replaces no waiting job. */
  readonly key?: string | null;
  readonly payload?: object;
  readonly dueInS?: number;
  readonly maxAttempts?: number;
  readonly priority?: number;
  readonly flags?: readonly string[];
}

interface JobChange {
  readonly attempts?: number;
  /** Time since a process locked the job. */
  readonly lockedForS?: number;
  readonly lockedBy?: string;
}

export async function readJobs(pool: Pool, task?: string): Promise<JobRow[]> {
  const { rows } = await pool.query<JobRow>(
    `SELECT jobs.id, key, payload, attempts, jobs.max_attempts, last_error, locked_by, flags, extract(epoch FROM run_at - clock_timestamp())::float AS due_in
     FROM ${JOBS} AS jobs JOIN ${QUEUE_SCHEMA}._private_tasks AS tasks ON tasks.id = task_id
     WHERE $1::text IS NULL OR identifier = $1 ORDER BY jobs.id`,
    [task ?? null],
  );
  return rows;
}

/** Enqueues a job that is due now, unless `dueInS` is set. Returns its id. */
export async function addJob(
  pool: Pool,
  task: string,
  { key = task, payload = {}, dueInS = 0, maxAttempts, priority, flags }: NewJob = {},
): Promise<string> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM ${QUEUE_SCHEMA}.add_job($1, $2::json, job_key := $3, run_at := now() + make_interval(secs => $4),
       max_attempts := $5, priority := $6, flags := $7)`,
    [task, JSON.stringify(payload), key, dueInS, maxAttempts, priority, flags],
  );
  return rows[0]?.id ?? '';
}

/** Changes the jobs whose key matches `keyPattern`, a pattern for LIKE. */
export async function changeJobs(
  pool: Pool,
  keyPattern: string,
  { attempts, lockedForS, lockedBy }: JobChange,
): Promise<void> {
  await pool.query(
    `UPDATE ${JOBS} SET attempts = coalesce($2, attempts), locked_by = coalesce($4, locked_by),
       locked_at = coalesce(now() - make_interval(secs => $3), locked_at) WHERE key LIKE $1`,
    [keyPattern, attempts, lockedForS, lockedBy],
  );
}

/** Deletes the jobs whose key matches `keyPattern`, a pattern for LIKE, except running ones. */
export async function deleteJobs(pool: Pool, keyPattern: string): Promise<void> {
  await pool.query(`DELETE FROM ${JOBS} WHERE key LIKE $1 AND locked_at IS NULL`, [keyPattern]);
}

/** Makes all jobs due, except running ones, and wakes up to ten workers of each process, so that tests need not wait. */
export async function makeJobsDue(pool: Pool): Promise<void> {
  await pool.query(`UPDATE ${JOBS} SET run_at = now() WHERE locked_at IS NULL`);
  await pool.query(`SELECT pg_notify('jobs:insert', '{"count":10}')`);
}

/** Runs all jobs of a task, without the delays before retries, and waits until none is left. */
export async function runAllJobs(pool: Pool, task: string, deadlineMs?: number): Promise<void> {
  const isDone = async (): Promise<boolean> => {
    await makeJobsDue(pool);
    return (await readJobs(pool, task)).length === 0;
  };
  await until(`all jobs of ${task} are done`, isDone, deadlineMs);
}

/** Waits until a try of a job of this task has failed, and returns the job. What the test changes then, the next try sees. */
export function waitForFailedJob(pool: Pool, task: string): Promise<JobRow> {
  return until(`a job of ${task} has failed`, async () =>
    (await readJobs(pool, task)).find((job) => job.last_error !== null && job.locked_by === null),
  );
}

/** Performs an action while no job can be enqueued. */
export function withBrokenQueue<T>(database: TestDatabase, act: () => PromiseLike<T>): Promise<T> {
  return withRejectedWrites(database, `TRIGGER rejection BEFORE INSERT ON ${JOBS}`, act);
}
