import { readdir } from 'node:fs/promises';
import { errorCode } from './errors/error-info.js';

/** Name of a backup in BACKUP_DIR that was restored as a check. The groups are the parts of its time in UTC. */
const NAME = /^bakery-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.tar\.gz$/;
/** End of the name of a backup in BACKUP_DIR until it has been checked. */
export const UNCHECKED = '.unchecked';
/** End of the name of a folder in which `createBackup` builds a backup. */
export const PARTIAL = '.partial';

export function nameBackup(time: Date): string {
  return `bakery-${time.toISOString().replaceAll(/[-:]|\.\d+/g, '')}.tar.gz`;
}

/**
 * Lists the checked and the unchecked backups in BACKUP_DIR, oldest first, with the unfinished ones that a killed command has
 * left. Other files are not listed.
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

/** Returns the age in seconds of the newest checked backup in BACKUP_DIR; Infinity if there is none. */
export async function readBackupAge(folder: string): Promise<number> {
  const { checked } = await listBackups(folder).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return { checked: [] };
    throw error;
  });
  const [, year, month, day, ...clock] = NAME.exec(checked.at(-1) ?? '') ?? [];
  if (year === undefined) return Infinity;
  return (Date.now() - Date.parse(`${year}-${month}-${day}T${clock.join(':')}Z`)) / 1000;
}
