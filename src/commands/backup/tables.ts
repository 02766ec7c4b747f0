import type pg from 'pg';

/** A table with rows to keep. Both names are quoted as SQL needs them. */
export interface Table {
  readonly name: string;
  readonly columns: readonly string[];
}

/**
 * The service's tables and those of its job queue, apart from the lists of migrations: a waiting mail or payment check
 * is kept as well.
 */
const SCHEMAS = "('public', 'graphile_worker')";

export async function tablesOf(client: pg.Client): Promise<Table[]> {
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

/** The last number that each sequence has given; those that have given none are left out. */
export async function sequencesOf(client: pg.Client): Promise<Record<string, string>> {
  const { rows } = await client.query<{ name: string; value: string }>(
    `SELECT format('%I.%I', schemaname, sequencename) AS name, last_value AS value FROM pg_sequences
     WHERE schemaname IN ${SCHEMAS} AND last_value IS NOT NULL ORDER BY 1`,
  );
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

/** Every foreign key, and the clause that makes it again. */
export async function foreignKeysOf(client: pg.Client) {
  const { rows } = await client.query<{ table: string; name: string; definition: string }>(
    `SELECT format('%I.%I', nspname, relname) AS table, quote_ident(conname) AS name,
       pg_get_constraintdef(pg_constraint.oid) AS definition
     FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE contype = 'f' AND nspname IN ${SCHEMAS}`,
  );
  return rows;
}
