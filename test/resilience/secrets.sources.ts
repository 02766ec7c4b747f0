import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pool } from 'pg';

/**
 * Reads all tables and the last statement of each connection. Omits PostgreSQL's catalog and the column
 * `password_hash`, the only place where a password hash may be.
 */
export async function dumpDatabase(pool: Pool): Promise<[where: string, text: string][]> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `SELECT format('%I.%I', nspname, relname) AS name
     FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE relkind IN ('r', 'p', 'm') AND nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')`,
  );
  const sources: [where: string, query: string][] = tables.map(({ name }) => [
    `table ${name}`,
    `SELECT (to_jsonb(t) - 'password_hash')::text AS row FROM ${name} AS t`,
  ]);
  const statements = 'SELECT query AS row FROM pg_stat_activity WHERE datname = current_database()';
  sources.push(['statements', statements]);
  const dump: [string, string][] = [];
  for (const [where, query] of sources) {
    const { rows } = await pool.query<{ row: string }>(query);
    dump.push([where, rows.map(({ row }) => row).join('\n')]);
  }
  return dump;
}

/** Reads all files under a folder. Each text begins with the path, which could reveal a secret too. */
export async function readFolder(folder: string): Promise<[path: string, text: string][]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(
    paths.map(async (path): Promise<[string, string]> => [path, `${path}\n${await readFile(path, 'utf8')}`]),
  );
}
