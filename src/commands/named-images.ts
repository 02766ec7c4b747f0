import type pg from 'pg';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { NamedFiles } from '../config/embedded-postgres/backup/create.js';

const LOCK_PATIENCE_MS = 2_000;

/**
 * The local images that products have. An image's file is complete before its row is attached, and is removed only
 * after its row was condemned: so while no row changes, every attached image has its file.
 */
export const namedImages: NamedFiles = {
  async list(session) {
    if (!(await hasLedger(session))) return [];
    const { rows } = await session.query<{ id: string; format: string }>(
      `SELECT id, substring(url from '\\.(png|jpg)$') AS format FROM images
       WHERE host = 'local' AND state = 'attached'`,
    );
    return rows.map(({ id, format }) => `images/${id.slice(0, 2)}/${id}.${format}`);
  },

  async lock(session) {
    if (!(await hasLedger(session))) return;
    await session.query(`SET LOCAL lock_timeout = ${LOCK_PATIENCE_MS}`);
    await session.query('LOCK TABLE images IN SHARE MODE');
  },
};

/**
 * Removes the local images that no row of the ledger names.
 * @returns how many there were
 */
export async function pruneImages(session: pg.Client, folder: string): Promise<number> {
  if (!(await hasLedger(session))) return 0;
  const { rows } = await session.query<{ id: string }>("SELECT id FROM images WHERE host = 'local'");
  const known = new Set(rows.map(({ id }) => id));
  let pruned = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || known.has(entry.name.replace(/\.\w+$/, ''))) continue;
    await rm(join(entry.parentPath, entry.name));
    pruned += 1;
  }
  return pruned;
}

async function hasLedger(session: pg.Client): Promise<boolean> {
  const { rows } = await session.query<{ is: boolean }>("SELECT to_regclass('images') IS NOT NULL AS is");
  return rows[0]?.is === true;
}
