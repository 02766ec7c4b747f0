import type pg from 'pg';

export type Queryable = Pick<pg.Pool, 'query'>;

/**
 * A `waiting` job runs later, a `due` job as soon as possible. A `retrying` job has failed and waits for its next try. A
 * `dead` job has no try left or cannot succeed, and waits for an operator.
 */
export const JOB_STATES = ['waiting', 'due', 'running', 'retrying', 'dead'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** Job as shown to operators, without the payload, which may contain personal data. */
interface JobRecord {
  readonly id: string;
  readonly state: JobState;
  readonly task: string;
  /**
   * Part of the key after the task, for example `17:verify_email`: the user's id and the purpose. Empty for a job without
   * a subject.
   */
  readonly subject: string;
  readonly tries: number;
  readonly ageSeconds: number;
  readonly lastError: string;
}

interface JobCount {
  readonly state: JobState;
  readonly task: string;
  readonly count: number;
  /** Delay of the most overdue job; 0 if none is overdue. Only jobs that are `due` or `retrying` can be overdue. */
  readonly overdueSeconds: number;
}

type ChangeResult = 'done' | 'unknown' | 'running';

/** About four days, with graphile-worker's gaps of exp(min(attempt, 10)) seconds. */
export const MAX_TRIES = 25;
/**
 * Condition for superseded jobs. When a key is enqueued again while its job runs or is dead, graphile-worker removes the
 * key and all remaining tries from that job and adds a new job. Every job of this service has a key.
 */
export const IS_SUPERSEDED = 'key IS NULL AND attempts >= max_attempts';
const JOBS = `(SELECT *, CASE WHEN locked_at IS NOT NULL THEN 'running' WHEN attempts >= max_attempts THEN 'dead'
  WHEN attempts > 0 THEN 'retrying' WHEN run_at > now() THEN 'waiting' ELSE 'due' END AS state
  FROM graphile_worker.jobs WHERE NOT (${IS_SUPERSEDED})) AS jobs`;

export async function listJobs(database: Queryable, state: JobState | undefined): Promise<JobRecord[]> {
  const { rows } = await database.query<JobRecord>(
    `SELECT id, state, task_identifier AS task, attempts AS tries, coalesce(last_error, '') AS "lastError",
       coalesce(substring(key FROM length(task_identifier) + 2), '') AS subject,
       floor(extract(epoch FROM now() - created_at))::int AS "ageSeconds"
     FROM ${JOBS} WHERE $1::text IS NULL OR state = $1 ORDER BY id`,
    [state ?? null],
  );
  return rows;
}

export async function countJobs(database: Queryable): Promise<JobCount[]> {
  // `run_at` of a retry lies in the future until the retry is due, so a pending retry is not overdue.
  const { rows } = await database.query<JobCount>(
    `SELECT state, task_identifier AS task, count(*)::int AS count, coalesce(greatest(0, extract(
       epoch FROM now() - min(run_at) FILTER (WHERE state IN ('due', 'retrying')))), 0)::float8 AS "overdueSeconds"
     FROM ${JOBS} GROUP BY 1, 2`,
  );
  return rows;
}

export function retryJob(database: Queryable, id: string): Promise<ChangeResult> {
  return changeJob(database, id, retryStatement('jobs.id = $1'));
}

export function dropJob(database: Queryable, id: string): Promise<ChangeResult> {
  return changeJob(database, id, 'SELECT id FROM graphile_worker.complete_jobs(ARRAY[$1::bigint])');
}

async function changeJob(database: Queryable, id: string, statement: string): Promise<ChangeResult> {
  const { rowCount } = await database.query(statement, [id]);
  if (rowCount === 1) return 'done';
  const { rows } = await database.query(`SELECT FROM ${JOBS} WHERE id = $1`, [id]);
  return rows.length === 1 ? 'running' : 'unknown';
}

export async function retryDeadJobs(database: Queryable): Promise<number> {
  const { rows } = await database.query(retryStatement(`state = 'dead'`));
  return rows.length;
}

/**
 * Returns the statement that retries jobs. `WorkerUtils` cannot do this: it ignores an `attempts` of 0. A permanent failure
 * lowers `max_attempts` to the attempts already made. `greatest` restores MAX_TRIES, but keeps a larger limit.
 */
function retryStatement(condition: string): string {
  return `SELECT retried.id FROM ${JOBS}, graphile_worker.reschedule_jobs(ARRAY[jobs.id], run_at := now(),
    attempts := 0, max_attempts := greatest(jobs.max_attempts, ${MAX_TRIES})) AS retried WHERE ${condition}`;
}
