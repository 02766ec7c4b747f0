import type { DataSource } from 'typeorm';

/** Cron schedule of the jobs that delete expired rows: once an hour. */
export const HOURLY = '17 * * * *';

const BATCH = 10_000;

interface ExpiringRows {
  readonly table: string;
  readonly primaryKey: string;
  /** Indexed column with the time at which a row expires. */
  readonly expiry: string;
  /** SQL expression of the current time, in the type of `expiry`. */
  readonly now: string;
}

/**
 * Deletes expired rows, except those that a running transaction has locked. Deletes in batches, so that no statement exceeds
 * the statement timeout, whatever the backlog.
 */
export async function deleteExpired(dataSource: DataSource, rows: ExpiringRows): Promise<void> {
  const { table, primaryKey, expiry, now } = rows;
  let deleted: number;
  do {
    [, deleted] = await dataSource.query<[unknown, number]>(
      // SQL, because TypeORM cannot delete a batch that skips locked rows. With IN, PostgreSQL would join the batch with all rows
      // of the table.
      `DELETE FROM ${table} WHERE ${primaryKey} = ANY (ARRAY(SELECT ${primaryKey} FROM ${table} WHERE ${expiry} <= ${now}
         ORDER BY ${expiry} LIMIT ${BATCH} FOR UPDATE SKIP LOCKED))`,
    );
  } while (deleted === BATCH);
}
