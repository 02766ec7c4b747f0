import type { DataSource } from 'typeorm';

const BATCH_SIZE = 10_000;

/**
 * Deletes expired rows, except those that a running transaction has locked. Deletes in batches, so that no statement exceeds
 * the statement timeout, whatever the backlog.
 * @param condition SQL condition for expired rows, on an indexed column
 */
export async function deleteExpired(dataSource: DataSource, table: string, condition: string): Promise<void> {
  let deleted: number;
  do {
    [, deleted] = await dataSource.query<[unknown, number]>(
      // SQL, because TypeORM cannot delete a batch that skips locked rows. With IN, PostgreSQL would join the batch with all rows
      // of the table.
      `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
         SELECT ctid FROM ${table} WHERE ${condition} LIMIT ${BATCH_SIZE} FOR UPDATE SKIP LOCKED))`,
    );
  } while (deleted === BATCH_SIZE);
}
