import type pg from 'pg';
import { PERMANENT } from './permanent-job-error.js';

/** A connection or a pool. */
export type Queryable = Pick<pg.Pool, 'query'>;

/**
 * `waiting` is to run at a later time, `due` as soon as possible; `retrying` has failed and waits for its next try;
 * `dead` has used up its tries or cannot succeed, and waits for an operator.
 */
export const JOB_STATES = ['waiting', 'due', 'running', 'retrying', 'dead'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** A job as an operator sees it. No payload: ids and what failed tell enough. */
export interface JobRecord {
  readonly id: string;
  readonly state: JobState;
  readonly task: string;
  /** What it is about, for example `17:verify_email`: the user's id and the purpose. */
  readonly subject: string;
  readonly tries: number;
  /** Seconds since it was enqueued. */
  readonly age: number;
  readonly lastError: string | null;
}

/** How many jobs of a task are in a state. */
export interface JobCount {
  readonly state: JobState;
  readonly task: string;
  readonly count: number;
  /** How long the one that waits the longest could have run already; 0 when none is due. */
  readonly lateSeconds: number;
}

/** Which locks are those of a process that died: old ones, and those of one worker. */
export interface DeadLocks {
  readonly olderThanSeconds?: number;
  readonly workerId?: string | undefined;
}

/** The result of a change that an operator asked for. */
export type JobChange = 'done' | 'unknown' | 'running';

/** A job that has been locked for so long belongs to a process that died: it is past its deadline. */
const DEAD_PROCESS_S = 45;
/** With graphile-worker's gaps of exp(min(attempt, 10)) seconds, 25 attempts are about four days. */
export const MAX_ATTEMPTS = 25;
/**
 * When a key is enqueued again while its job runs or is dead, graphile-worker takes the key from that job, uses up its
 * tries and adds a new job. Every job of ours has a key, so a job without one and without tries is superseded.
 */
const IS_SUPERSEDED = 'key IS NULL AND attempts >= max_attempts';
/** The jobs that count, with their state. */
const JOBS = `(SELECT *, CASE WHEN locked_at IS NOT NULL THEN 'running' WHEN attempts >= max_attempts THEN 'dead'
  WHEN attempts > 0 THEN 'retrying' WHEN run_at > now() THEN 'waiting' ELSE 'due' END AS state
  FROM graphile_worker.jobs WHERE NOT (${IS_SUPERSEDED})) AS jobs`;

/** The jobs of a state, or all, in the order of their ids. */
export async function listJobs(database: Queryable, state: JobState | undefined): Promise<JobRecord[]> {
  const { rows } = await database.query<JobRecord>(
    `SELECT id, state, task_identifier AS task, attempts AS tries, last_error AS "lastError",
       coalesce(replace(key, task_identifier || ':', ''), '') AS subject,
       floor(extract(epoch FROM now() - created_at))::int AS age
     FROM ${JOBS} WHERE $1::text IS NULL OR state = $1 ORDER BY id`,
    [state ?? null],
  );
  return rows;
}

/** @throws Error of the database */
export async function countJobs(database: Queryable): Promise<JobCount[]> {
  // A job that is to be retried later is early, not late.
  const { rows } = await database.query<JobCount>(
    `SELECT state, task_identifier AS task, count(*)::int AS count, coalesce(greatest(0, extract(
       epoch FROM now() - min(run_at) FILTER (WHERE state IN ('due', 'retrying')))), 0)::float8 AS "lateSeconds"
     FROM ${JOBS} GROUP BY 1, 2`,
  );
  return rows;
}

/** Has a job that does not run tried again at once, with all its tries before it. */
export function retryJob(database: Queryable, id: string): Promise<JobChange> {
  return change(database, id, retried('jobs.id = $1'));
}

/** @returns how many dead jobs there were; they are tried again now */
export async function retryDeadJobs(database: Queryable): Promise<number> {
  const { rows } = await database.query(retried(`state = 'dead'`));
  return rows.length;
}

/** Removes a job that does not run: what it was to do is not done. */
export function dropJob(database: Queryable, id: string): Promise<JobChange> {
  return change(database, id, 'SELECT id FROM graphile_worker.complete_jobs(ARRAY[$1::bigint])');
}

/**
 * Frees jobs whose worker does not work any more, and with them all others of the same worker.
 * @returns those that have no try left: they are dead
 */
export async function freeJobs(
  database: Queryable,
  { olderThanSeconds = DEAD_PROCESS_S, workerId = '' }: DeadLocks = {},
): Promise<{ readonly id: string; readonly task: string }[]> {
  const { rows: locked } = await database.query<{
    id: string;
    task: string;
    worker: string;
    isDead: boolean;
  }>(
    `SELECT id, task_identifier AS task, locked_by AS worker, key IS NOT NULL AND attempts >= max_attempts AS "isDead"
     FROM graphile_worker.jobs WHERE locked_at <= now() - make_interval(secs => $1) OR locked_by = $2`,
    [olderThanSeconds, workerId],
  );
  if (locked.length === 0) return [];
  const dead = locked.filter(({ isDead }) => isDead);
  const workers = locked.map(({ worker }) => worker);
  await database.query('SELECT graphile_worker.force_unlock_workers($1::text[])', [workers]);
  await database.query(`SELECT graphile_worker.permanently_fail_jobs($1::bigint[], 'its process died')`, [
    dead.map(({ id }) => id),
  ]);
  return dead;
}

/**
 * Makes jobs dead that failed for good, which cannot be done while they run, and removes superseded jobs that failed. To
 * be repeated at least every two seconds: the shortest gap between two tries is 2.7.
 */
export async function settleFailedJobs(database: Queryable): Promise<void> {
  await database.query(
    `SELECT FROM graphile_worker.jobs AS failed,
       graphile_worker.reschedule_jobs(ARRAY[failed.id], max_attempts := failed.attempts) AS limited,
       graphile_worker.permanently_fail_jobs(ARRAY[limited.id], substr(failed.last_error, ${PERMANENT.length + 1}))
     WHERE failed.last_error LIKE '${PERMANENT}%' AND failed.locked_at IS NULL;
     SELECT graphile_worker.complete_jobs(ARRAY(
       SELECT id FROM graphile_worker.jobs WHERE ${IS_SUPERSEDED} AND locked_at IS NULL))`,
  );
}

/**
 * As SQL, not by `WorkerUtils`, which takes 0 for no number. A dead job's tries may have been cut; one that is never given
 * up keeps its own.
 * @param which condition on the jobs
 */
function retried(which: string): string {
  return `SELECT retried.id FROM ${JOBS}, graphile_worker.reschedule_jobs(ARRAY[jobs.id], run_at := now(),
    attempts := 0, max_attempts := greatest(jobs.max_attempts, ${MAX_ATTEMPTS})) AS retried WHERE ${which}`;
}

async function change(database: Queryable, id: string, statement: string): Promise<JobChange> {
  const changed = await database.query(statement, [id]);
  if (changed.rows.length === 1) return 'done';
  const { rows } = await database.query(`SELECT FROM ${JOBS} WHERE id = $1`, [id]);
  return rows.length === 1 ? 'running' : 'unknown';
}
