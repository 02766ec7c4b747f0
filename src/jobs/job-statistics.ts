import { type JobState, JOBS, IS_SUPERSEDED, STATE } from './job-table.js';

/** How many jobs there are and how late they are. */
export interface JobStatistics {
  readonly counts: readonly { readonly state: JobState; readonly task: string; readonly count: number }[];
  /** How long the job that waits the longest could have run already, in seconds; 0 when none waits. */
  readonly oldestDueSeconds: number;
}

/** Time for the statement itself, in milliseconds; after it its connection is cut. */
const DEADLINE_MS = 1000;

/** What of a pool is needed here. */
interface Queryable {
  query(query: { text: string; query_timeout: number }): Promise<{ rows: unknown[] }>;
}

/** One pass over the jobs. @throws Error of the database, or when the statement takes longer than a second */
export async function jobStatistics(database: Queryable): Promise<JobStatistics> {
  const { rows } = await database.query({
    query_timeout: DEADLINE_MS,
    text: `SELECT ${STATE} AS state, identifier AS task, count(*)::int AS count,
       coalesce(extract(epoch FROM now() - min(run_at) FILTER (WHERE ${STATE} IN ('due', 'retrying'))), 0)::float8
         AS late
     FROM ${JOBS} AS jobs JOIN graphile_worker._private_tasks AS tasks ON tasks.id = task_id
     WHERE NOT (${IS_SUPERSEDED})
     GROUP BY 1, 2`,
  });
  const groups = rows as (JobStatistics['counts'][number] & { readonly late: number })[];
  return {
    counts: groups.map(({ state, task, count }) => ({ state, task, count })),
    // A job that is to run later is early, not late.
    oldestDueSeconds: Math.max(0, ...groups.map(({ late }) => late)),
  };
}
