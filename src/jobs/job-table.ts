import type pg from 'pg';
import { PERMANENT } from './permanent-job-error.js';

/** Connection or pool. */
export type Queryable = Pick<pg.Pool, 'query'>;

/**
 * A `waiting` job runs later, a `due` job as soon as possible. A `retrying` job has failed and waits for its next try. A
 * `dead` job has no try left or cannot succeed, and waits for an operator.
 */
export const JOB_STATES = ['waiting', 'due', 'running', 'retrying', 'dead'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** Job as shown to operators, without the payload, which may contain personal data. */
export interface JobRecord {
  readonly id: string;
  readonly state: JobState;
  readonly task: string;
  /** Object of the job, for example `17:verify_email`: the user's id and the purpose. */
  readonly subject: string;
  readonly tries: number;
  /** Seconds since the job was enqueued. */
  readonly age: number;
  readonly lastError: string | null;
}

/** Number of jobs of a task that are in a state. */
export interface JobCount {
  readonly state: JobState;
  readonly task: string;
  readonly count: number;
  /** Seconds that the oldest due job has been waiting; 0 if no job is due. */
  readonly lateSeconds: number;
}

/** Locks that belong to a dead process: those older than a limit, and those of one worker. */
export interface DeadLocks {
  readonly olderThanSeconds?: number;
  readonly workerId?: string | undefined;
}

/** Result of an operator's change. */
export type JobChange = 'done' | 'unknown' | 'running';

/** Age in seconds at which a lock belongs to a dead process: the job is past every deadline. */
const DEAD_PROCESS_S = 45;
/** About four days, with graphile-worker's gaps of exp(min(attempt, 10)) seconds. */
export const MAX_ATTEMPTS = 25;
/**
 * Condition for superseded jobs. When a key is enqueued again while its job runs or is dead, graphile-worker removes the
 * key and all remaining tries from that job and adds a new job. Every job of this service has a key.
 */
const IS_SUPERSEDED = 'key IS NULL AND attempts >= max_attempts';
/** All jobs with their state, except superseded ones. */
const JOBS = `(SELECT *, CASE WHEN locked_at IS NOT NULL THEN 'running' WHEN attempts >= max_attempts THEN 'dead'
  WHEN attempts > 0 THEN 'retrying' WHEN run_at > now() THEN 'waiting' ELSE 'due' END AS state
  FROM graphile_worker.jobs WHERE NOT (${IS_SUPERSEDED})) AS jobs`;

/** Lists the jobs of a state, or all jobs, by id. */
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

/**
 * Counts the jobs by state and task.
 * @throws Error of the database
 */
export async function countJobs(database: Queryable): Promise<JobCount[]> {
  // `run_at` of a retry lies in the future until the retry is due, so a pending retry is not late.
  const { rows } = await database.query<JobCount>(
    `SELECT state, task_identifier AS task, count(*)::int AS count, coalesce(greatest(0, extract(
       epoch FROM now() - min(run_at) FILTER (WHERE state IN ('due', 'retrying')))), 0)::float8 AS "lateSeconds"
     FROM ${JOBS} GROUP BY 1, 2`,
  );
  return rows;
}

/** Makes a job due at once with all its tries, unless it is running. */
export function retryJob(database: Queryable, id: string): Promise<JobChange> {
  return change(database, id, retryStatement('jobs.id = $1'));
}

/**
 * Makes all dead jobs due at once with all their tries.
 * @returns the number of these jobs
 */
export async function retryDeadJobs(database: Queryable): Promise<number> {
  const { rows } = await database.query(retryStatement(`state = 'dead'`));
  return rows.length;
}

/** Removes a job, unless it is running. Its work is not done. */
export function dropJob(database: Queryable, id: string): Promise<JobChange> {
  return change(database, id, 'SELECT id FROM graphile_worker.complete_jobs(ARRAY[$1::bigint])');
}

/** Jobs that need attention. */
export interface QueueSurvey {
  /** Number of jobs that a worker could run now. */
  readonly due: number;
  /** True if a job is locked by a dead process: see `freeJobs`. */
  readonly hasAbandoned: boolean;
  /** True if `settleFailedJobs` has something to do. */
  readonly hasUnsettled: boolean;
}

/** Reads the pending work in one statement, because an idle process polls every second. */
export async function surveyJobs(database: Queryable): Promise<QueueSurvey> {
  const { rows } = await database.query<QueueSurvey>(
    `SELECT count(*) FILTER (WHERE locked_at IS NULL AND attempts < max_attempts AND run_at <= now())::int AS due,
       count(*) FILTER (WHERE locked_at <= now() - make_interval(secs => ${DEAD_PROCESS_S})) > 0 AS "hasAbandoned",
       count(*) FILTER (WHERE locked_at IS NULL AND (${IS_SUPERSEDED} OR last_error LIKE '${PERMANENT}%')) > 0
         AS "hasUnsettled"
     FROM graphile_worker.jobs`,
  );
  return rows[0] ?? { due: 0, hasAbandoned: false, hasUnsettled: false };
}

/**
 * Frees jobs whose worker is gone, and all other jobs of the same worker.
 * @returns the freed jobs that have no try left: they are dead
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
 * Makes jobs dead that failed permanently, which is impossible while they run, and removes superseded jobs that failed.
 * Must run at least every two seconds: the shortest gap between two tries is 2.7 s.
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
 * Returns the statement that retries jobs. `WorkerUtils` cannot do this: it ignores an `attempts` of 0. The number of
 * tries may have been reduced when a job became dead; a job with more than the usual number keeps it.
 */
function retryStatement(condition: string): string {
  return `SELECT retried.id FROM ${JOBS}, graphile_worker.reschedule_jobs(ARRAY[jobs.id], run_at := now(),
    attempts := 0, max_attempts := greatest(jobs.max_attempts, ${MAX_ATTEMPTS})) AS retried WHERE ${condition}`;
}

async function change(database: Queryable, id: string, statement: string): Promise<JobChange> {
  const changed = await database.query(statement, [id]);
  if (changed.rows.length === 1) return 'done';
  const { rows } = await database.query(`SELECT FROM ${JOBS} WHERE id = $1`, [id]);
  return rows.length === 1 ? 'running' : 'unknown';
}
