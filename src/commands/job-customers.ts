import type { Queryable } from '../jobs/job-table.js';

/** Returns the e-mail address of the customer that each mail job concerns, by the job's id. */
export async function findCustomers(database: Queryable): Promise<Map<string, string>> {
  // Payloads name the account, the order or the typed address. graphile-worker's view of the jobs has no payloads.
  const { rows } = await database.query<{ id: string; email: string }>(
    `SELECT jobs.id, users.email
     FROM graphile_worker._private_jobs AS jobs
       JOIN graphile_worker._private_tasks AS tasks ON tasks.id = jobs.task_id
       LEFT JOIN orders ON orders.order_id::text = payload ->> 'orderId'
       JOIN users ON users.id::text = coalesce(payload ->> 'userId', orders.user_id::text)
         OR lower(users.email) = lower(payload ->> 'email')
     WHERE jobs.flags ? 'mail' OR tasks.identifier = 'forgot-password'`,
  );
  return new Map(rows.map(({ id, email }) => [id, email]));
}
