import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { createDatabase, inTransaction, type TestDatabase } from '../support/databases.js';
import { runDb } from '../support/db-command.js';
import { freePort, useFolder } from '../support/process.js';
import { useInstance } from '../support/service-process.js';
import { stopAfterTests } from '../support/stop-after-tests.js';

const OLD = 'bakery-20260102T030405Z.tar.gz';

const root = await useFolder('bakery-scheduled-backup-');
const database: TestDatabase = await stopAfterTests(createDatabase(), (created) => created.drop());
const folder = join(root, 'backups');
const instance = await useInstance();
const settings = { DATABASE_URL: database.url, DATA_DIR: join(root, 'data'), BACKUP_DIR: folder };

/** Creates an empty folder of backups with these files. */
async function fillFolder(...names: string[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  await rename(folder, `${folder}-${Date.now()}`);
  await mkdir(folder);
  for (const name of names) await writeFile(join(folder, name), '');
}

async function scheduleBackup(url: string): Promise<{ code: number | null; output: string }> {
  return runDb({ ...settings, DATABASE_URL: url }, 'backup', '--keep', '2');
}

it('a scheduled backup is checked although another client is connected to template1', async () => {
  await fillFolder();
  const template = new URL(database.url);
  template.pathname = 'template1';
  const monitor = new pg.Client({ connectionString: template.href });
  await monitor.connect();
  const { code, output } = await scheduleBackup(database.url);
  await monitor.end();
  expect({ code, output }).toMatchObject({ code: 0 });
});

it('a scheduled backup is checked, and removes all but the newest backups and no other file', async () => {
  await fillFolder('bakery-20250102T030405Z.tar.gz', OLD, `${OLD}.unchecked`, 'notes.txt', 'shop.tar.gz');
  await mkdir(join(folder, `${OLD}.unchecked.partial`)); // A command that was killed leaves its folder behind.
  await writeFile(join(folder, `${OLD}.unchecked.partial`, 'packed'), '');
  const { code, output } = await scheduleBackup(database.url);
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(output).toMatch(
    /backups\/(bakery-\d{8}T\d{6}Z\.tar\.gz): \d+ tables, \d+ rows, 0 images, \d+ bytes \(.* MB\); checked\n/,
  );
  const [, newest = ''] = /(bakery-\d{8}T\d{6}Z\.tar\.gz): /.exec(output) ?? [];
  expect(output).toContain('removed bakery-20250102T030405Z.tar.gz\n');
  expect(await readdir(folder)).toEqual([OLD, newest, 'notes.txt', 'shop.tar.gz'].sort());

  const check = await runDb(settings, 'check', join(folder, newest));
  expect(check).toMatchObject({ code: 0 });
  expect(check.output).toContain(`${newest} can be restored as of 20`);
  const left = `SELECT FROM pg_database WHERE datname = current_database() || '_restore_check'`;
  expect(await database.query(left)).toEqual([]);
});

it('a backup that cannot be checked fails, stays unchecked, and removes no earlier backup', async () => {
  await fillFolder(OLD, 'bakery-20250102T030405Z.tar.gz', 'bakery-20240102T030405Z.tar.gz');
  // Another check has this database.
  const used = new URL(database.url);
  used.pathname += '_restore_check';
  await database.query(`CREATE DATABASE ${used.pathname.slice(1)}`);
  const otherCheck = new pg.Client({ connectionString: used.href });
  await otherCheck.connect();
  const { code, output } = await scheduleBackup(database.url);
  await otherCheck.end();
  await database.query(`DROP DATABASE ${used.pathname.slice(1)}`);
  expect({ code, output }).toMatchObject({ code: 1 });
  expect(output).toContain('another check is running');
  const names = await readdir(folder);
  expect(names).toHaveLength(4);
  expect(names.filter((other) => /^bakery-\d{8}T\d{6}Z\.tar\.gz\.unchecked$/.test(other))).toHaveLength(1);
});

it('a scheduled backup of a new, empty database fails, and removes no backup', async () => {
  await fillFolder(OLD, `${OLD}.unchecked`);
  const empty = new URL(database.url);
  empty.pathname += '_empty';
  await database.query(`CREATE DATABASE ${empty.pathname.slice(1)}`);
  const { code, output } = await scheduleBackup(empty.href);
  await database.query(`DROP DATABASE ${empty.pathname.slice(1)}`);
  expect({ code, output }).toMatchObject({ code: 1 });
  expect(output).toContain('the database has no tables: there is nothing to back up');
  expect(await readdir(folder)).toEqual([OLD, `${OLD}.unchecked`]);
});

it('a scheduled backup fails while another one runs, and removes no file', async () => {
  await fillFolder(OLD, `${OLD}.unchecked`);
  const { code, output } = await inTransaction(database, async (otherBackup) => {
    await otherBackup.query('SELECT pg_advisory_xact_lock(7225003)');
    return scheduleBackup(database.url);
  });
  expect({ code, output }).toMatchObject({ code: 1 });
  expect(output).toContain('another scheduled backup is running');
  expect(await readdir(folder)).toEqual([OLD, `${OLD}.unchecked`]);
});

it('a check fails while another check of the same database runs', async () => {
  await fillFolder();
  const { code, output } = await inTransaction(database, async (otherCheck) => {
    await otherCheck.query('SELECT pg_advisory_xact_lock(7225002)');
    return scheduleBackup(database.url);
  });
  expect({ code, output }).toMatchObject({ code: 1 });
  expect(output).toContain('another check is running');
});

it('a database whose name has the largest length, 63 characters, is checked too', async () => {
  await fillFolder();
  const long = new URL(database.url);
  const name = 'x'.repeat(63);
  long.pathname = name;
  await database.query(`CREATE DATABASE ${name}`);
  try {
    await runDb({ ...settings, DATABASE_URL: long.href }, 'migrate');
    const { code, output } = await scheduleBackup(long.href);
    expect({ code, output }).toMatchObject({ code: 0 });
    expect(output).toContain('checked\n');
  } finally {
    await database.query(`DROP DATABASE ${name}`);
  }
});

it('--keep needs a number and BACKUP_DIR, and is an option of backup without a file', async () => {
  const withoutFolder = { DATABASE_URL: database.url, DATA_DIR: join(root, 'data') };
  expect(await runDb(withoutFolder, 'backup', '--keep', '2')).toEqual({
    code: 1,
    output: '--keep needs the setting BACKUP_DIR\n',
  });
  for (const args of [
    ['backup', '--keep', '0'],
    ['backup', 'file', '--keep', '2'],
    ['status', '--keep', '2'],
  ])
    expect({ args, ...(await runDb(settings, ...args)) }).toMatchObject({ args, code: 2 });
});

describe('the metric of the age of the newest backup', () => {
  async function readAge(port: number): Promise<number> {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const [, value = ''] = /^bakery_backup_age_seconds (\S+)$/m.exec(text) ?? [];
    return value === '+Inf' || value === 'Infinity' ? Infinity : Number(value || NaN);
  }

  it('counts from the time in the name of the newest checked backup that is not of the future, and is infinite without one', async () => {
    const port = await freePort();
    await fillFolder();
    await instance.start({ ...settings, METRICS_PORT: String(port), METRICS_HOST: '127.0.0.1' });
    expect(await readAge(port)).toBe(Infinity);
    const newer = new Date(Date.now() - 3_600_000).toISOString().replaceAll(/[-:]|\.\d+/g, '');
    const ofFuture = 'bakery-99990102T030405Z.tar.gz';
    await fillFolder(OLD, `bakery-${newer}.tar.gz`, ofFuture, `${ofFuture}.unchecked`);
    const age = await readAge(port);
    expect(age).toBeGreaterThanOrEqual(3_600);
    expect(age).toBeLessThan(3_700);
    await rm(folder, { recursive: true });
    await writeFile(folder, '');
    expect(await readAge(port)).toBe(Infinity);
  });
});
