/** What of a connection or a pool is needed here. */
export interface Queryable {
  query(sql: string, values?: unknown[]): Promise<{ rows: unknown[]; rowCount: number | null }>;
}

/**
 * `due` waits for its first try, `retrying` for another one; `dead` has used up its tries or cannot succeed, and
 * waits for an operator.
 */
export const JOB_STATES = ['due', 'running', 'retrying', 'dead'] as const;
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

/** A job that was freed and has no try left. */
export interface FreedDead {
  readonly id: string;
  readonly task: string;
}

/** What became of a change that an operator asked for. */
export type JobChange = 'done' | 'unknown' | 'running';

/**
 * graphile-worker 0.17's own table: its view `jobs` lacks the payload only, its functions take a job locked by a dead
 * process for running for four hours. A dead job without a key was superseded: see `removeSuperseded`.
 */
export const JOBS = 'graphile_worker._private_jobs';
export const IS_SUPERSEDED = 'key IS NULL AND attempts >= max_attempts';
export const STATE = `CASE WHEN locked_at IS NOT NULL THEN 'running' WHEN attempts >= max_attempts THEN 'dead'
                    WHEN attempts > 0 THEN 'retrying' ELSE 'due' END`;
/** What graphile-worker gives a job that says nothing else. */
const MAX_ATTEMPTS = 25;

/** A page of the jobs of a state, or of all, in the order of their ids. */
export async function listJobs(
  database: Queryable,
  state: JobState | undefined,
  afterId: string,
  limit: number,
): Promise<JobRecord[]> {
  const { rows } = await database.query(
    `SELECT jobs.id, ${STATE} AS state, identifier AS task, key, attempts AS tries,
       floor(extract(epoch FROM now() - created_at))::int AS age, last_error AS "lastError"
     FROM ${JOBS} AS jobs JOIN graphile_worker._private_tasks AS tasks ON tasks.id = task_id
     WHERE jobs.id > $1 AND NOT (${IS_SUPERSEDED}) AND ($2::text IS NULL OR ${STATE} = $2)
     ORDER BY jobs.id LIMIT $3`,
    [afterId, state ?? null, limit],
  );
  return (rows as (Omit<JobRecord, 'subject'> & { readonly key: string | null })[]).map(
    ({ key, ...job }) => ({ ...job, subject: key?.replace(`${job.task}:`, '') ?? '' }),
  );
}

/** Has a job that is dead or waits run at once, with all its tries before it. */
export async function retryJob(database: Queryable, id: string): Promise<JobChange> {
  return (await retry(database, `id = $1 AND NOT (${IS_SUPERSEDED})`, [id])) > 0
    ? 'done'
    : whyNot(database, id);
}

/** @returns how many dead jobs there were, which run again now */
export function retryDeadJobs(database: Queryable): Promise<number> {
  return retry(database, 'attempts >= max_attempts AND key IS NOT NULL', []);
}

/** Removes a job unless it runs: what it was to do is not done. */
export async function dropJob(database: Queryable, id: string): Promise<JobChange> {
  const { rowCount } = await database.query(
    `DELETE FROM ${JOBS} WHERE id = $1 AND locked_at IS NULL AND NOT (${IS_SUPERSEDED})`,
    [id],
  );
  return rowCount === 1 ? 'done' : whyNot(database, id);
}

/**
 * Frees jobs whose process must have died: they were locked longer ago.
 * @returns those of them that have no try left
 */
export function freeJobsLockedFor(database: Queryable, seconds: number): Promise<FreedDead[]> {
  // Not `force_unlock_workers`: a process's jobs share one worker id, and the younger ones may be running.
  return free(database, 'locked_at < now() - make_interval(secs => $1)', seconds);
}

/**
 * Frees what a runner that has ended was working at and could not write the result of.
 * @param poolId of the runner, as its jobs are locked by it
 * @returns those of them that have no try left
 */
export function freeJobsOf(database: Queryable, poolId: string): Promise<FreedDead[]> {
  return free(database, 'locked_by = $1', poolId);
}

async function free(database: Queryable, condition: string, value: unknown): Promise<FreedDead[]> {
  const { rows } = await database.query(
    `WITH freed AS (
       UPDATE ${JOBS} SET locked_at = NULL, locked_by = NULL,
         last_error = CASE WHEN attempts >= max_attempts THEN 'its process died' ELSE last_error END
       WHERE ${condition} RETURNING *
     )
     SELECT freed.id, identifier AS task FROM freed JOIN graphile_worker._private_tasks AS tasks ON tasks.id = task_id
     WHERE attempts >= max_attempts AND key IS NOT NULL`,
    [value],
  );
  return rows as FreedDead[];
}

/**
 * When a job's key is enqueued again while it runs or is dead, graphile-worker takes the key from it, spends its tries
 * and adds a new job, which does what is to be done. Should the old one fail, or its process die, nobody would ever
 * remove it. Every job of ours has a key, so these are known by having none.
 */
export async function removeSuperseded(database: Queryable): Promise<void> {
  await database.query(`DELETE FROM ${JOBS} WHERE ${IS_SUPERSEDED} AND locked_at IS NULL`);
}

/**
 * Spends a running job's tries, so that it is dead when its failure has been written down.
 * @returns whether it is the last word: a job whose key was enqueued again meanwhile is followed by another one
 */
export async function giveUp(database: Queryable, id: string): Promise<boolean> {
  const { rowCount } = await database.query(
    `UPDATE ${JOBS} SET max_attempts = least(max_attempts, attempts) WHERE id = $1 AND key IS NOT NULL`,
    [id],
  );
  return rowCount === 1;
}

async function retry(database: Queryable, condition: string, values: unknown[]): Promise<number> {
  const { rowCount } = await database.query(
    `WITH retried AS (
       UPDATE ${JOBS} SET attempts = 0, max_attempts = greatest(max_attempts, ${MAX_ATTEMPTS}), run_at = now(),
         updated_at = now()
       WHERE locked_at IS NULL AND ${condition} RETURNING id
     )
     SELECT id, pg_notify('jobs:insert', '{"count":1}') FROM retried`,
    values,
  );
  return rowCount ?? 0;
}

async function whyNot(database: Queryable, id: string): Promise<JobChange> {
  const { rows } = await database.query(
    `SELECT 1 FROM ${JOBS} WHERE id = $1 AND locked_at IS NOT NULL AND NOT (${IS_SUPERSEDED})`,
    [id],
  );
  return rows.length === 1 ? 'running' : 'unknown';
}
