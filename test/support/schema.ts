import type pg from 'pg';

/** Lists columns, constraints, indexes, triggers and functions, without extensions and the table `migrations`. */
export async function readSchema(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ line: string }>(
    `WITH ours AS (SELECT oid, relname FROM pg_class
                   WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v', 'm', 'p') AND relname <> 'migrations')
     SELECT format('column %s.%s #%s %s%s default %s identity %s', relname, attname,
         row_number() OVER (PARTITION BY ours.oid ORDER BY attnum), format_type(atttypid, atttypmod),
         CASE WHEN attnotnull THEN ' not null' ELSE '' END, pg_get_expr(adbin, adrelid), attidentity) AS line
       FROM ours JOIN pg_attribute ON attrelid = ours.oid AND attnum > 0 AND NOT attisdropped
         LEFT JOIN pg_attrdef ON adrelid = ours.oid AND adnum = attnum
     UNION ALL
     SELECT format('constraint %s.%s %s', relname, conname, pg_get_constraintdef(pg_constraint.oid))
       FROM ours JOIN pg_constraint ON conrelid = ours.oid
     UNION ALL
     SELECT format('index %s', pg_get_indexdef(indexrelid)) FROM ours JOIN pg_index ON indrelid = ours.oid
     UNION ALL
     SELECT format('trigger %s', pg_get_triggerdef(pg_trigger.oid))
       FROM ours JOIN pg_trigger ON tgrelid = ours.oid AND NOT tgisinternal
     UNION ALL
     SELECT format('function %s', pg_get_functiondef(oid)) FROM pg_proc
       WHERE pronamespace = 'public'::regnamespace AND prokind IN ('f', 'p')
         AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')
     ORDER BY line`,
  );
  return rows.map(({ line }) => line);
}

/** Returns all rows as JSON, by table. The table `migrations` is left out. */
export async function readContents(pool: pg.Pool): Promise<Map<string, Record<string, unknown>[]>> {
  const tables = await pool.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
       AND relname <> 'migrations' ORDER BY relname`,
  );
  const contents = new Map<string, Record<string, unknown>[]>();
  for (const { name } of tables.rows) {
    const { rows } = await pool.query<{ row: Record<string, unknown> }>(
      `SELECT to_jsonb(everything) AS row FROM ${name} AS everything`,
    );
    contents.set(
      name,
      rows.map(({ row }) => row),
    );
  }
  return contents;
}
