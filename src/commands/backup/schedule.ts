import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { listBackups, nameBackup, UNCHECKED } from '../../common/backup-files.js';
import { flushToDisk } from '../../common/files.js';
import { checkBackup } from './check.js';
import type { Summary } from './content.js';
import { createBackup } from './create.js';
import { withUnpacked } from './restore.js';

/**
 * Writes a backup into a folder, checks it, and removes all other backups except the newest ones. The file gets its final name
 * after the check. If the check fails, no backup is removed.
 * @param keep number of backups that remain
 */
export async function createScheduledBackup(
  databaseUrl: string,
  dataDir: string,
  folder: string,
  keep: number,
) {
  const file = join(folder, nameBackup(new Date()));
  const unchecked = `${file}${UNCHECKED}`;
  const summary = await createBackup(databaseUrl, dataDir, unchecked);
  const restored = await withUnpacked(unchecked, dataDir, (backup) => checkBackup(databaseUrl, backup));
  if (!isSame(summary, restored))
    throw new Error(
      `${unchecked} has ${JSON.stringify(summary)}, but the check restored ${JSON.stringify(restored)}`,
    );
  await rename(unchecked, file);
  await flushToDisk(folder);
  const backups = await listBackups(folder);
  const removed = [...backups.checked.slice(0, -keep), ...backups.unchecked];
  for (const name of removed) await rm(join(folder, name));
  return { file, summary, removed };
}

function isSame(written: Summary, restored: Summary): boolean {
  return (['tables', 'rows', 'images'] as const).every((name) => written[name] === restored[name]);
}
