import { rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { listBackups, nameBackup, UNCHECKED } from '../../common/backup-files.js';
import { flushToDisk } from '../../common/files.js';
import { checkBackup } from './check.js';
import { assertTables, createBackup } from './create.js';
import { withUnpacked } from './restore.js';

export interface ScheduledBackup {
  readonly databaseUrl: string;
  readonly dataDir: string;
  /** Folder of the backups. */
  readonly folder: string;
  /** Number of backups that remain, this one included. */
  readonly keep: number;
}

/**
 * Writes a backup into a folder, checks it, and removes the oldest other backups. The file gets its final name after the check.
 * If the check fails, no backup is removed, except an earlier one that failed its check too.
 */
export async function createScheduledBackup({ databaseUrl, dataDir, folder, keep }: ScheduledBackup) {
  const file = join(folder, nameBackup(new Date()));
  const unchecked = `${file}${UNCHECKED}`;
  // After the loss of a database, the newest copy may be a backup whose check failed.
  await assertTables(databaseUrl);
  // Remove backups whose check failed: repeated failures would fill the disk.
  for (const name of (await listBackups(folder)).unchecked) await rm(join(folder, name), { force: true });
  const summary = await createBackup(databaseUrl, dataDir, unchecked);
  const restored = await withUnpacked(unchecked, dataDir, (backup) => checkBackup(databaseUrl, backup));
  if (!isDeepStrictEqual(summary, restored))
    throw new Error(
      `${unchecked} has ${JSON.stringify(summary)}, but the check restored ${JSON.stringify(restored)}`,
    );
  await rename(unchecked, file);
  await flushToDisk(folder);
  // Never remove the new backup: if the clock was ahead before, an older backup has a later name.
  const others = (await listBackups(folder)).checked.filter((name) => name !== basename(file));
  const removed = others.slice(0, Math.max(0, others.length - keep + 1));
  for (const name of removed) await rm(join(folder, name), { force: true });
  return { file, summary, removed };
}
