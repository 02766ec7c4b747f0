import { readdir } from 'node:fs/promises';

/** Name of a checked backup in BACKUP_DIR: the check has restored it. The groups are the parts of its time in UTC. */
const NAME = /^bakery-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.tar\.gz$/;
/** End of the name of a backup in BACKUP_DIR until it has been checked. */
export const UNCHECKED = '.unchecked';
/** End of the name of a folder in which `createBackup` builds a backup. */
export const PARTIAL = '.partial';

/** Difference between the clocks of two machines that is no reason to ignore a backup. */
const CLOCK_TOLERANCE_S = 600;

export function nameBackup(time: Date): string {
  return `bakery-${time.toISOString().replaceAll(/[-:]|\.\d+/g, '')}.tar.gz`;
}

/**
 * Lists the backups in BACKUP_DIR, oldest first. `unchecked` also contains the folders that killed commands have left. Ignores
 * other files.
 */
export async function listBackups(folder: string) {
  const names = (await readdir(folder)).sort();
  return {
    checked: names.filter((name) => NAME.test(name)),
    unchecked: names.filter((name) =>
      [UNCHECKED, UNCHECKED + PARTIAL].some(
        (end) => name.endsWith(end) && NAME.test(name.slice(0, -end.length)),
      ),
    ),
  };
}

/**
 * Returns the age in seconds of the newest checked backup in BACKUP_DIR; Infinity if there is none. Ignores backups of the future,
 * which were made while the clock was ahead.
 */
export async function readBackupAge(folder: string): Promise<number> {
  const { checked } = await listBackups(folder);
  const ages = checked.map((name) => (Date.now() - parseTime(name)) / 1000);
  return Math.min(Infinity, ...ages.filter((age) => age > -CLOCK_TOLERANCE_S));
}

function parseTime(name: string): number {
  const [, year, month, day, ...clock] = NAME.exec(name) ?? [];
  return Date.parse(`${year}-${month}-${day}T${clock.join(':')}Z`);
}
