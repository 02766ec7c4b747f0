import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pool } from 'pg';

/** Shorter base64 texts are ignored, because they occur by chance. */
const MIN_BASE64_LENGTH = 12;

/** Finds secrets in texts, plain or in the usual encodings. */
export class SecretFinder {
  readonly #patterns: { readonly name: string; readonly form: string; readonly pattern: RegExp }[] = [];

  add(name: string, value: string): void {
    if (value.length < 6) throw new Error(`${name} is too short to be found reliably`);
    for (const [form, text] of listForms(value))
      this.#patterns.push({ name, form, pattern: buildPattern(value, text) });
  }

  /** Lists the secrets in a text without their values: `password of Ayu (base64) in the log`. */
  find(where: string, text: string): string[] {
    const found = this.#patterns.filter(({ pattern }) => pattern.test(text));
    return found.map(({ name, form }) => `${name} (${form}) in ${where}`);
  }
}

function listForms(value: string): [form: string, text: string][] {
  const json = JSON.stringify(value).slice(1, -1);
  return [
    ['plain', value],
    ['JSON', json],
    ['JSON within JSON', JSON.stringify(json).slice(1, -1)],
    ['URL', encodeURIComponent(value)],
    ['form', new URLSearchParams({ x: value }).toString().slice(2)],
    ['hexadecimal', Buffer.from(value).toString('hex')],
    ...[0, 1, 2].flatMap((before) => listBase64Forms(Buffer.from(value), before)),
  ];
}

/**
 * Encodes a value that is part of a longer base64 text, in both alphabets. Base64 encodes groups of three bytes, so the
 * characters at both ends depend on the neighboring bytes. This function omits these characters.
 * @param before number of bytes of the first group that precede the value
 */
function listBase64Forms(value: Buffer, before: number): [form: string, text: string][] {
  const whole = Buffer.concat([Buffer.alloc(before), value]);
  const text = whole.subarray(0, whole.length - (whole.length % 3)).toString('base64');
  const fixed = text.slice(Math.ceil((before * 8) / 6));
  if (fixed.length < MIN_BASE64_LENGTH) return [];
  return [
    ['base64', fixed],
    ['base64url', fixed.replaceAll('+', '-').replaceAll('/', '_')],
  ];
}

/**
 * Builds a case-insensitive pattern for a value in one of its forms. A plain code of six digits must stand alone, because a
 * timestamp may contain the same digits.
 */
function buildPattern(value: string, text: string): RegExp {
  const escaped = text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return /^\d{6}$/.test(value) && text === value
    ? new RegExp(`(?<![\\w.:+-])${escaped}(?![\\w.:+-])`)
    : new RegExp(escaped, 'i');
}

/**
 * Reads all tables and the last statement of each connection. Omits PostgreSQL's catalog and the column `password_hash`.
 */
export async function dumpDatabase(pool: Pool): Promise<[where: string, text: string][]> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `SELECT format('%I.%I', nspname, relname) AS name
     FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE relkind IN ('r', 'p', 'm') AND nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')`,
  );
  const sources = tables.map(({ name }) => [
    `table ${name}`,
    `SELECT (to_jsonb(t) - 'password_hash')::text AS row FROM ${name} AS t`,
  ]);
  const statements = 'SELECT query AS row FROM pg_stat_activity WHERE datname = current_database()';
  const dump: [string, string][] = [];
  for (const [where = '', query = ''] of [...sources, ['statements', statements]]) {
    const { rows } = await pool.query<{ row: string }>(query);
    dump.push([where, rows.map(({ row }) => row).join('\n')]);
  }
  return dump;
}

/** Reads all files under a folder except unfinished mails. Each text begins with the path, which could reveal a secret too. */
export async function readFolder(folder: string): Promise<[path: string, text: string][]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.partial'))
    .map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(
    paths.map(async (path): Promise<[string, string]> => [path, `${path}\n${await readFile(path, 'utf8')}`]),
  );
}
