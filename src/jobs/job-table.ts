import type pg from 'pg';
import { DEFAULT_TRIES, KINDS, WORKERS } from './job-kinds.js';

export type Queryable = Pick<pg.Pool, 'query'>;

/**
 * A `waiting` job runs later, a `due` job as soon as possible. A `retrying` job has failed and waits for its next try. A
 * `dead` job has no try left or cannot succeed, and waits for an operator.
 */
export const JOB_STATES = ['waiting', 'due', 'running', 'retrying', 'dead'] as const;
export type JobState = (typeof JOB_STATES)[number];

interface JobCount {
  readonly state: JobState;
  readonly task: string;
  readonly count: number;
  /** Delay of the most overdue job; 0 if none is overdue. Only jobs that are `due` or `retrying` can be overdue. */
  readonly overdueSeconds: number;
}

/** Age from which a lock is stale: its process has died. */
const STALE_LOCK_S = 60;
/** Deadline of every job. Only a job that hangs reaches it: the calls of `check-order` take longest, up to 35 s. */
export const JOB_DEADLINE_MS = (STALE_LOCK_S - 20) * 1000;
/**
 * Condition for superseded jobs. When a key is enqueued again while its job runs or is dead, graphile-worker removes the
 * key and all remaining tries from that job and adds a new job. Every job of this service has a key.
 */
const IS_SUPERSEDED = 'key IS NULL AND attempts >= max_attempts';
/** Jobs that are not superseded, with their states, for the FROM clause of a statement. */
export const JOBS = `(SELECT *, CASE WHEN locked_at IS NOT NULL THEN 'running' WHEN attempts >= max_attempts THEN 'dead'
  WHEN attempts > 0 THEN 'retrying' WHEN run_at > now() THEN 'waiting' ELSE 'due' END AS state
  FROM graphile_worker.jobs WHERE NOT (${IS_SUPERSEDED})) AS jobs`;

export async function countJobs(database: Queryable): Promise<JobCount[]> {
  // `run_at` of a retry lies in the future until the retry is due, so a pending retry is not overdue.
  const { rows } = await database.query<JobCount>(
    `SELECT state, task_identifier AS task, count(*)::int AS count, coalesce(greatest(0, extract(
       epoch FROM now() - min(run_at) FILTER (WHERE state IN ('due', 'retrying')))), 0)::float8 AS "overdueSeconds"
     FROM ${JOBS} GROUP BY 1, 2`,
  );
  return rows;
}

/** Retries or drops a job. Compares ids as text, because a number that an operator types may not fit into a bigint. */
export async function changeJob(
  database: Queryable,
  action: 'retry' | 'drop',
  id: string,
): Promise<'done' | 'unknown' | 'running'> {
  const ids = 'ARRAY(SELECT id FROM graphile_worker.jobs WHERE id::text = $1)';
  const statements = {
    retry: retryStatement('jobs.id::text = $1'),
    drop: `SELECT id FROM graphile_worker.complete_jobs(${ids})`,
  };
  const { rowCount } = await database.query(statements[action], [id]);
  if (rowCount === 1) return 'done';
  const { rows } = await database.query(`SELECT FROM ${JOBS} WHERE id::text = $1`, [id]);
  return rows.length === 1 ? 'running' : 'unknown';
}

/** Retries all jobs in a state. Returns their number. */
export async function retryAllJobs(database: Queryable, state: 'dead' | 'retrying'): Promise<number> {
  const { rowCount } = await database.query(retryStatement('state = $1'), [state]);
  return rowCount ?? 0;
}

/**
 * Returns the statement that retries jobs. `WorkerUtils` cannot do this: it ignores an `attempts` of 0. A permanent failure
 * lowers `max_attempts` to the attempts already made. `greatest` restores DEFAULT_TRIES, but keeps a larger limit.
 */
function retryStatement(condition: string): string {
  return `SELECT retried.id FROM ${JOBS}, graphile_worker.reschedule_jobs(ARRAY[jobs.id], run_at := now(),
    attempts := 0, max_attempts := greatest(jobs.max_attempts, ${DEFAULT_TRIES})) AS retried WHERE ${condition}`;
}

/**
 * Counts the jobs that can run now, retries included, at most WORKERS of each priority. Every process runs this statement each
 * second, so it reads only the beginning of graphile-worker's index. The public view lacks `is_available`, a column of the index.
 */
export async function countRunnableJobs(database: Queryable): Promise<number> {
  const { rows } = await database.query<{ runnable: number }>(
    `SELECT count(*)::int AS runnable FROM unnest($1::int[]) AS kind_priority, LATERAL (
       SELECT FROM graphile_worker._private_jobs
       WHERE is_available = true AND priority = kind_priority AND run_at <= now() LIMIT ${WORKERS}) AS jobs`,
    [Object.values(KINDS).map(({ priority }) => priority)],
  );
  return rows[0]?.runnable ?? 0;
}

/**
 * Unlocks all jobs of the runners with a stale lock. A job without a try left is dead then.
 * @param options.lockedForS age in seconds from which a lock is stale
 * @param options.endedRunnerId runner of this process that has ended. Its jobs are unlocked at once, although a handler may still
 *   run: such a job may run twice
 */
export async function unlockStaleJobs(
  database: Queryable,
  { lockedForS = STALE_LOCK_S, endedRunnerId = '' } = {},
): Promise<void> {
  await database.query(
    `SELECT graphile_worker.force_unlock_workers(array_agg(DISTINCT locked_by)) FROM graphile_worker.jobs
     WHERE locked_by = $2 OR locked_at <= now() - make_interval(secs => $1)`,
    [lockedForS, endedRunnerId],
  );
}

/** Removes superseded jobs that do not run: `complete_jobs` skips running jobs. */
export async function removeSupersededJobs(database: Queryable): Promise<void> {
  await database.query(
    `SELECT graphile_worker.complete_jobs(ARRAY(
       SELECT id FROM graphile_worker.jobs WHERE ${IS_SUPERSEDED}))`,
  );
}

/**
 * Makes the current try of a running job its last one. Writes to a private table, because the public functions of
 * graphile-worker do not change a running job.
 * @returns false for a superseded job: another job does its work
 */
export async function endRetries(database: Queryable, jobId: string): Promise<boolean> {
  const { rowCount } = await database.query(
    'UPDATE graphile_worker._private_jobs SET max_attempts = attempts WHERE id = $1 AND key IS NOT NULL',
    [jobId],
  );
  return rowCount === 1;
}
