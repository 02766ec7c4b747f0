import type pg from 'pg';
import type { Table } from './manifest.js';

/** Schemas of the service and of its job queue. Waiting mails and payment checks are part of a backup. */
const SCHEMAS = "('public', 'graphile_worker')";

/** Lists the tables of both schemas, except the two tables `migrations`, which a restore fills by migrating. */
export async function listTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `SELECT format('%I.%I', nspname, relname) AS name,
       array_agg(quote_ident(attname) ORDER BY attnum)::text[] AS columns
     FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace JOIN pg_attribute ON attrelid = pg_class.oid
     WHERE nspname IN ${SCHEMAS} AND relkind = 'r' AND relname <> 'migrations'
       AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
     GROUP BY nspname, relname ORDER BY 1`,
  );
  return rows;
}

export async function assertNoRows(client: pg.Client): Promise<void> {
  for (const { name } of await listTables(client)) {
    const { rows } = await client.query(`SELECT FROM ${name} LIMIT 1`);
    if (rows.length === 0) continue;
    throw new Error(
      `the database is not empty (${name}): restore into a new one, named by DATABASE_URL or by a DATA_DIR that does ` +
        'not exist',
    );
  }
}

/** Returns the last value of each sequence by its name. The value is null if the sequence was never used. */
export async function listSequences(client: pg.Client): Promise<Record<string, string | null>> {
  const { rows } = await client.query<{ name: string; value: string | null }>(
    `SELECT format('%I.%I', schemaname, sequencename) AS name, last_value AS value FROM pg_sequences
     WHERE schemaname IN ${SCHEMAS} ORDER BY 1`,
  );
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

/** Lists the foreign keys of both schemas. `table` and `name` are SQL identifiers, quoted if necessary. */
export async function listForeignKeys(client: pg.Client) {
  const { rows } = await client.query<{ table: string; name: string; definition: string }>(
    `SELECT conrelid::regclass AS table, quote_ident(conname) AS name, pg_get_constraintdef(oid) AS definition
     FROM pg_constraint WHERE contype = 'f' AND connamespace::regnamespace::text IN ${SCHEMAS}`,
  );
  return rows;
}
