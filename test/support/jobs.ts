import type { Pool } from 'pg';

interface JobRow {
  readonly id: string;
  readonly payload: unknown;
  readonly attempts: number;
  readonly max_attempts: number;
  readonly last_error: string | null;
  readonly locked_by: string | null;
  /** Seconds until the job may run; negative if the job is due. */
  readonly due_in: number;
}

export async function readJobs(pool: Pool, task?: string): Promise<JobRow[]> {
  const { rows } = await pool.query<JobRow>(
    `SELECT jobs.id, payload, attempts, jobs.max_attempts, last_error, locked_by, extract(epoch FROM run_at - now())::float AS due_in
     FROM graphile_worker._private_jobs AS jobs JOIN graphile_worker._private_tasks AS tasks ON tasks.id = task_id
     WHERE $1::text IS NULL OR identifier = $1 ORDER BY jobs.id`,
    [task ?? null],
  );
  return rows;
}

/** Makes all jobs due, except running ones, and wakes up to ten workers of each process, so that tests need not wait. */
export async function makeJobsDue(pool: Pool): Promise<void> {
  await pool.query('UPDATE graphile_worker._private_jobs SET run_at = now() WHERE locked_at IS NULL');
  await pool.query(`SELECT pg_notify('jobs:insert', '{"count":10}')`);
}
