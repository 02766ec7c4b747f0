import { rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { listBackups, nameBackup, UNCHECKED } from '../../common/backup-files.js';
import { flushToDisk } from '../../common/files.js';
import { withLock } from '../../database/with-client.js';
import { checkBackup } from './check.js';
import { assertTables, createBackup } from './create.js';
import { withUnpacked } from './restore.js';

const SCHEDULE_LOCK = 7_225_003;

/**
 * Writes a backup into a folder, checks it, and removes the oldest other backups. The file gets its final name after the check.
 * Files of earlier backups that failed, or whose check failed, are removed first.
 * @param keep number of backups that remain, this one included
 */
export function createScheduledBackup(databaseUrl: string, dataDir: string, folder: string, keep: number) {
  const rejectSecondRun = () => {
    throw new Error('another scheduled backup is running');
  };
  return withLock(databaseUrl, SCHEDULE_LOCK, rejectSecondRun, async () => {
    const file = join(folder, nameBackup(new Date()));
    const unchecked = `${file}${UNCHECKED}`;
    // Fail before removing anything. If the database was lost and replaced by an empty one, a backup whose check failed may be
    // the newest copy of the data.
    await assertTables(databaseUrl);
    // Remove backups whose check failed or whose command was killed: repeated failures would fill the disk.
    for (const name of (await listBackups(folder)).unchecked)
      await rm(join(folder, name), { recursive: true, force: true });
    const summary = await createBackup(databaseUrl, dataDir, unchecked);
    await withUnpacked(unchecked, dataDir, (backup) => checkBackup(databaseUrl, backup));
    await rename(unchecked, file);
    await flushToDisk(folder);
    // Never remove the new backup: if the clock was ahead before, an older backup has a later name.
    const others = (await listBackups(folder)).checked.filter((name) => name !== basename(file));
    const removed = others.toReversed().slice(keep - 1);
    for (const name of removed) await rm(join(folder, name), { force: true });
    return { file, summary, removed };
  });
}
