import { hash } from 'node:crypto';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { beginTransaction, createDatabase } from '../support/databases.js';
import { runDb } from '../support/db-command.js';
import { findFreePort, useFolder } from '../support/process.js';
import { ServiceInstance } from '../support/service-process.js';

/** Keys of the advisory locks that the command holds. */
const CHECK_LOCK = 7_225_002;
const SCHEDULE_LOCK = 7_225_003;
const OLD = 'bakery-20260102T030405Z.tar.gz';

const root = await useFolder('bakery-scheduled-backup-');
const database = await createDatabase();
const { pathname } = new URL(database.url);
/** Database into which a backup is restored in order to check it. */
const CHECK_DATABASE = `restore_check_${hash('md5', pathname)}`;
const folder = join(root, 'backups');
const instance = await ServiceInstance.create();
const settings = { DATABASE_URL: database.url, DATA_DIR: join(root, 'data'), BACKUP_DIR: folder };

/** Creates an empty folder of backups with these files. */
async function fillFolder(...names: string[]): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  for (const name of names) await writeFile(join(folder, name), '');
}

/** Runs a scheduled backup and expects this exit code. Returns the output. */
function runBackup(exitCode: number, url = database.url): Promise<string> {
  return runDb(exitCode, { ...settings, DATABASE_URL: url }, 'backup', '--keep', '2');
}

/** Creates an empty database, passes its URL to an action, and drops the database. */
async function withDatabase<T>(name: string, act: (url: string) => Promise<T>): Promise<T> {
  await database.query(`CREATE DATABASE ${name}`);
  try {
    return await act(Object.assign(new URL(database.url), { pathname: name }).href);
  } finally {
    await database.query(`DROP DATABASE IF EXISTS ${name}`);
  }
}

/** Performs an action while another client is connected to a database. */
async function withConnection<T>(url: string, act: () => Promise<T>): Promise<T> {
  const client = new pg.Client(url).on('error', () => undefined); // The server may end the connection.
  await client.connect();
  try {
    return await act();
  } finally {
    await client.end();
  }
}

it('a scheduled backup is checked, even while a client uses template1, and removes all but the newest backups and no other file', async () => {
  await fillFolder('bakery-20250102T030405Z.tar.gz', OLD, `${OLD}.unchecked`, 'notes.txt', 'shop.tar.gz');
  await mkdir(join(folder, `${OLD}.unchecked.partial`)); // A command that was killed leaves its folder behind.
  await writeFile(join(folder, `${OLD}.unchecked.partial`, 'packed'), '');
  const template = Object.assign(new URL(database.url), { pathname: 'template1' });
  const output = await withConnection(template.href, () => runBackup(0));
  expect(output).toMatch(
    /backups\/(bakery-\d{8}T\d{6}Z\.tar\.gz): \d+ tables, \d+ rows, 0 images, \d+ bytes \(.* MB\); checked\n/,
  );
  const [, newest = ''] = /(bakery-\d{8}T\d{6}Z\.tar\.gz): /.exec(output) ?? [];
  expect(output).toContain('removed bakery-20250102T030405Z.tar.gz\n');
  expect(await readdir(folder)).toEqual([OLD, newest, 'notes.txt', 'shop.tar.gz'].sort());

  const check = await runDb(0, settings, 'check', join(folder, newest));
  expect(check).toContain(`${newest} can be restored as of 20`);
  const checkDatabases = 'SELECT FROM pg_database WHERE datname = $1';
  expect(await database.query(checkDatabases, [CHECK_DATABASE])).toEqual([]);
});

/** Runs a scheduled backup, which must fail, while another process has the advisory lock with this key. */
async function runBackupDuringLock(key: number): Promise<string> {
  await beginTransaction(database, `SELECT pg_advisory_xact_lock(${key})`);
  return runBackup(1);
}

it('a backup is checked while a killed check is still connected to its database', async () => {
  await fillFolder();
  const check = (url: string) => withConnection(url, () => runBackup(0));
  expect(await withDatabase(CHECK_DATABASE, check)).toContain('checked\n');
});

it('a backup that cannot be checked because another check is running stays unchecked, and removes no earlier backup', async () => {
  await fillFolder(OLD, 'bakery-20250102T030405Z.tar.gz', 'bakery-20240102T030405Z.tar.gz');
  const output = await runBackupDuringLock(CHECK_LOCK);
  expect(output).toContain('the backup cannot be checked: another check is running');
  const names = await readdir(folder);
  expect(names).toHaveLength(4);
  expect(names.filter((name) => /^bakery-\d{8}T\d{6}Z\.tar\.gz\.unchecked$/.test(name))).toHaveLength(1);
});

it.each<[string, () => Promise<string>, string]>([
  [
    'of a new, empty database',
    () => withDatabase(`${pathname.slice(1)}_empty`, (url) => runBackup(1, url)),
    'the database has no tables: there is nothing to back up',
  ],
  [
    'that runs beside another one',
    () => runBackupDuringLock(SCHEDULE_LOCK),
    'another scheduled backup is running',
  ],
])('a scheduled backup %s fails, and removes no file', async (_which, run, reason) => {
  await fillFolder(OLD, `${OLD}.unchecked`);
  expect(await run()).toContain(reason);
  expect(await readdir(folder)).toEqual([OLD, `${OLD}.unchecked`]);
});

it('a scheduled backup without BACKUP_DIR fails', async () => {
  const output = await runDb(1, { ...settings, BACKUP_DIR: '' }, 'backup', '--keep', '2');
  expect(output).toBe('--keep needs the setting BACKUP_DIR\n');
});

it('bakery_backup_age_seconds is the age of the newest checked backup that is not of the future, and +Inf without one', async () => {
  const port = await findFreePort();
  const readAge = async () => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return /^bakery_backup_age_seconds (\S+)$/m.exec(text)?.[1];
  };
  await fillFolder();
  await instance.start({ ...settings, METRICS_PORT: String(port), METRICS_HOST: '127.0.0.1' });
  expect(await readAge()).toBe('+Inf');
  const newer = new Date(Date.now() - 3_600_000).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const ofFuture = 'bakery-99990102T030405Z.tar.gz';
  await fillFolder(OLD, `bakery-${newer}.tar.gz`, ofFuture, `${ofFuture}.unchecked`);
  const age = Number(await readAge());
  expect(age).toBeGreaterThanOrEqual(3_600);
  expect(age).toBeLessThan(3_700);
  // A folder that cannot be read has no backup.
  await rm(folder, { recursive: true });
  await writeFile(folder, '');
  expect(await readAge()).toBe('+Inf');
});
