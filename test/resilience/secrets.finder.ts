import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pool } from 'pg';

/** Shorter than that, a piece of a base64 text turns up by chance. */
const SHORTEST_BASE64 = 12;

/** Knows secrets by name, and finds them in whatever was written, plain or in the usual encodings. */
export class SecretFinder {
  readonly #forms: { readonly name: string; readonly form: string; readonly pattern: RegExp }[] = [];
  readonly #values = new Set<string>();

  /** How many secrets are looked for. */
  get size(): number {
    return this.#values.size;
  }

  add(name: string, value: string): void {
    if (value.length < 6) throw new Error(`${name} is too short to be looked for`);
    if (this.#values.has(value)) return;
    this.#values.add(value);
    for (const [form, text] of formsOf(value))
      this.#forms.push({ name, form, pattern: patternOf(value, text) });
  }

  /** @returns what was found and in which form: `password of Ayu (base64) in the log` */
  find(where: string, text: string): string[] {
    const found = this.#forms.filter(({ pattern }) => pattern.test(text));
    return [...new Set(found.map(({ name, form }) => `${name} (${form}) in ${where}`))];
  }
}

function formsOf(value: string): [form: string, text: string][] {
  const json = JSON.stringify(value).slice(1, -1);
  return [
    ['plain', value],
    ['JSON', json],
    ['JSON within JSON', JSON.stringify(json).slice(1, -1)],
    ['URL', encodeURIComponent(value)],
    ['form', new URLSearchParams({ x: value }).toString().slice(2)],
    ['hexadecimal', Buffer.from(value).toString('hex')],
    ...base64FormsOf(Buffer.from(value)),
  ];
}

/** What is the same of its base64 text wherever in three bytes it begins, in both alphabets. */
function base64FormsOf(value: Buffer): [form: string, text: string][] {
  return [0, 1, 2].flatMap((before): [string, string][] => {
    const whole = Buffer.concat([Buffer.alloc(before), value]);
    const sure = whole
      .subarray(0, whole.length - (whole.length % 3))
      .toString('base64')
      .slice(Math.ceil((before * 8) / 6));
    if (sure.length < SHORTEST_BASE64) return [];
    return [
      ['base64', sure],
      ['base64url', sure.replaceAll('+', '-').replaceAll('/', '_')],
    ];
  });
}

/** Digits stand alone, or every time of day would hold a code. */
function patternOf(value: string, text: string): RegExp {
  const escaped = text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return /^\d{6}$/.test(value) && text === value
    ? new RegExp(`(?<![\\w.:+-])${escaped}(?![\\w.:+-])`)
    : new RegExp(escaped, 'i');
}

/** Every row of every table and materialised view as text, one entry a table; PostgreSQL's own catalogue aside. */
export async function dumpTables(pool: Pool): Promise<Map<string, string>> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `SELECT format('%I.%I', nspname, relname) AS name
     FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE relkind IN ('r', 'p', 'm') AND nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')`,
  );
  const dump = new Map<string, string>();
  for (const { name } of tables) {
    const { rows } = await pool.query<{ row: string }>(`SELECT to_jsonb(t)::text AS row FROM ${name} AS t`);
    dump.set(name, rows.map(({ row }) => row).join('\n'));
  }
  return dump;
}

/** Names and contents of all files under a folder. */
export async function readFolder(
  folder: string,
): Promise<{ readonly paths: string[]; readonly contents: Map<string, string> }> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.map((entry) => join(entry.parentPath, entry.name));
  const contents = new Map<string, string>();
  for (const entry of entries.filter((file) => file.isFile())) {
    const path = join(entry.parentPath, entry.name);
    contents.set(path, (await readFile(path)).toString('utf8'));
  }
  return { paths, contents };
}
