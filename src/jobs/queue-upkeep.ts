import { PRIORITIES, WORKERS } from './job-kinds.js';
import { IS_SUPERSEDED, type Queryable } from './job-table.js';

/** Selects stale locks, whose jobs no longer run: locks older than a limit, and locks of one runner. */
export interface StaleLocks {
  readonly olderThanSeconds?: number;
  readonly runnerId?: string;
}

export interface NamedJob {
  readonly id: string;
  readonly task: string;
}

/** Last error of a job whose runner disappeared during the job's last try. */
export const RUNNER_LOST = 'its process died or lost the database';
/** Age at which a lock counts as one of a dead process. */
const DEAD_PROCESS_S = 60;
/** Deadline of every job. Only a job that hangs reaches it: the calls of `check-order` take longest, up to 35 s. */
export const JOB_DEADLINE_MS = (DEAD_PROCESS_S - 20) * 1000;

/**
 * Counts the due jobs of each priority up to the number of workers. An idle process polls every second, so the statement reads
 * only that part of graphile-worker's index. The public view lacks the column of the index.
 */
export async function countDueJobs(database: Queryable): Promise<number> {
  const { rows } = await database.query<{ due: number }>(
    `SELECT count(*)::int AS due FROM unnest($1::int[]) AS level, LATERAL (
       SELECT FROM graphile_worker._private_jobs
       WHERE is_available = true AND priority = level AND run_at <= now() LIMIT ${WORKERS}) AS due`,
    [PRIORITIES],
  );
  return rows[0]?.due ?? 0;
}

/** Unlocks all jobs of the runners with a stale lock. Returns those that are now dead: not superseded, no try left. */
export async function freeJobs(
  database: Queryable,
  { olderThanSeconds = DEAD_PROCESS_S, runnerId = '' }: StaleLocks = {},
): Promise<NamedJob[]> {
  const { rows: locked } = await database.query<NamedJob & { runnerId: string; isDead: boolean }>(
    `SELECT id, task_identifier AS task, locked_by AS "runnerId", key IS NOT NULL AND attempts >= max_attempts AS "isDead"
     FROM graphile_worker.jobs WHERE locked_by = $2 OR locked_by IN (
       SELECT locked_by FROM graphile_worker.jobs WHERE locked_at <= now() - make_interval(secs => $1))`,
    [olderThanSeconds, runnerId],
  );
  if (locked.length === 0) return [];
  const dead = locked.filter(({ isDead }) => isDead);
  const runnerIds = locked.map(({ runnerId }) => runnerId);
  await database.query('SELECT graphile_worker.force_unlock_workers($1::text[])', [runnerIds]);
  const failDead = 'SELECT graphile_worker.permanently_fail_jobs($1::bigint[], $2)';
  await database.query(failDead, [dead.map(({ id }) => id), RUNNER_LOST]);
  return dead;
}

/** Removes superseded jobs that failed. graphile-worker does not remove a job that runs. */
export async function removeSupersededJobs(database: Queryable): Promise<void> {
  await database.query(
    `SELECT graphile_worker.complete_jobs(ARRAY(
       SELECT id FROM graphile_worker.jobs WHERE ${IS_SUPERSEDED} AND locked_at IS NULL))`,
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
