import { readdir } from 'node:fs/promises';
import { DateTime } from 'luxon';

/** End of the name of a backup in BACKUP_DIR until it has been checked. */
export const UNCHECKED = '.unchecked';
/** End of the name of a folder in which `createBackup` builds a backup. */
export const PARTIAL = '.partial';

const NAME = String.raw`bakery-(\d{8}T\d{6}Z)\.tar\.gz`;
/** Name of a checked backup in BACKUP_DIR: the check has restored it. The group is its time in UTC. */
const CHECKED_NAME = new RegExp(`^${NAME}$`);
/** Name of a backup that has not been checked, or of the folder that a killed command has left. */
const UNCHECKED_NAME = new RegExp(`^${NAME}\\${UNCHECKED}(\\${PARTIAL})?$`);

/** Maximum time by which a backup may lie in the future, because the clocks of two machines can differ. */
const CLOCK_TOLERANCE_S = 600;

export function nameBackup(time: Date): string {
  return `bakery-${time.toISOString().replaceAll(/[-:]|\.\d+/g, '')}.tar.gz`;
}

/** Lists the backups in BACKUP_DIR, oldest first. Ignores other files. */
export async function listBackups(folder: string) {
  const names = (await readdir(folder)).sort();
  return {
    checked: names.filter((name) => CHECKED_NAME.test(name)),
    unchecked: names.filter((name) => UNCHECKED_NAME.test(name)),
  };
}

/**
 * Returns the age in seconds of the newest checked backup in BACKUP_DIR; Infinity if there is none. Ignores backups of the future,
 * which were made while the clock was ahead.
 */
export async function readBackupAge(folder: string): Promise<number> {
  const { checked } = await listBackups(folder);
  const times = checked.map((name) => DateTime.fromISO(CHECKED_NAME.exec(name)?.[1] ?? ''));
  const ages = times.map((time) => (Date.now() - time.toMillis()) / 1000);
  return Math.min(Infinity, ...ages.filter((age) => age > -CLOCK_TOLERANCE_S));
}
