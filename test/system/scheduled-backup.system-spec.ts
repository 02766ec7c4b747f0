import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { createDatabase, inTransaction } from '../support/databases.js';
import { runDb } from '../support/db-command.js';
import { findFreePort, useFolder } from '../support/process.js';
import { useInstance } from '../support/service-process.js';
import { stopAfterTests } from '../support/stop-after-tests.js';

/** Keys of the advisory locks that the command holds. */
const CHECK_LOCK = 7_225_002;
const SCHEDULE_LOCK = 7_225_003;
const OLD = 'bakery-20260102T030405Z.tar.gz';

const root = await useFolder('bakery-scheduled-backup-');
const database = await stopAfterTests(createDatabase(), (created) => created.drop());
const databaseName = new URL(database.url).pathname.slice(1);
const folder = join(root, 'backups');
const instance = await useInstance();
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
async function withDatabase(name: string, act: (url: string) => Promise<unknown>): Promise<void> {
  await database.query(`CREATE DATABASE ${name}`);
  try {
    await act(Object.assign(new URL(database.url), { pathname: name }).href);
  } finally {
    await database.query(`DROP DATABASE ${name}`);
  }
}

/** Performs an action while another client is connected to a database. */
async function withConnection(url: string, act: () => Promise<unknown>): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await act();
  } finally {
    await client.end();
  }
}

it('a scheduled backup is checked although another client is connected to template1', async () => {
  await fillFolder();
  const template = Object.assign(new URL(database.url), { pathname: 'template1' });
  await withConnection(template.href, async () => {
    expect(await runBackup(0)).toContain('checked\n');
  });
});

it('a scheduled backup is checked, and removes all but the newest backups and no other file', async () => {
  await fillFolder('bakery-20250102T030405Z.tar.gz', OLD, `${OLD}.unchecked`, 'notes.txt', 'shop.tar.gz');
  await mkdir(join(folder, `${OLD}.unchecked.partial`)); // A command that was killed leaves its folder behind.
  await writeFile(join(folder, `${OLD}.unchecked.partial`, 'packed'), '');
  const output = await runBackup(0);
  expect(output).toMatch(
    /backups\/(bakery-\d{8}T\d{6}Z\.tar\.gz): \d+ tables, \d+ rows, 0 images, \d+ bytes \(.* MB\); checked\n/,
  );
  const [, newest = ''] = /(bakery-\d{8}T\d{6}Z\.tar\.gz): /.exec(output) ?? [];
  expect(output).toContain('removed bakery-20250102T030405Z.tar.gz\n');
  expect(await readdir(folder)).toEqual([OLD, newest, 'notes.txt', 'shop.tar.gz'].sort());

  const check = await runDb(0, settings, 'check', join(folder, newest));
  expect(check).toContain(`${newest} can be restored as of 20`);
  const checkDatabases = `SELECT FROM pg_database WHERE datname = current_database() || '_restore_check'`;
  expect(await database.query(checkDatabases)).toEqual([]);
});

it('a backup that cannot be checked fails, stays unchecked, and removes no earlier backup', async () => {
  await fillFolder(OLD, 'bakery-20250102T030405Z.tar.gz', 'bakery-20240102T030405Z.tar.gz');
  await withDatabase(`${databaseName}_restore_check`, async (urlOfOtherCheck) => {
    await withConnection(urlOfOtherCheck, async () => {
      expect(await runBackup(1)).toContain('another check is running');
    });
  });
  const names = await readdir(folder);
  expect(names).toHaveLength(4);
  expect(names.filter((name) => /^bakery-\d{8}T\d{6}Z\.tar\.gz\.unchecked$/.test(name))).toHaveLength(1);
});

it('a scheduled backup of a new, empty database fails, and removes no backup', async () => {
  await fillFolder(OLD, `${OLD}.unchecked`);
  await withDatabase(`${databaseName}_empty`, async (url) => {
    expect(await runBackup(1, url)).toContain('the database has no tables: there is nothing to back up');
  });
  expect(await readdir(folder)).toEqual([OLD, `${OLD}.unchecked`]);
});

it('a scheduled backup fails while another one runs, and removes no file', async () => {
  await fillFolder(OLD, `${OLD}.unchecked`);
  const output = await inTransaction(database, async (otherBackup) => {
    await otherBackup.query(`SELECT pg_advisory_xact_lock(${SCHEDULE_LOCK})`);
    return runBackup(1);
  });
  expect(output).toContain('another scheduled backup is running');
  expect(await readdir(folder)).toEqual([OLD, `${OLD}.unchecked`]);
});

it('a check fails while another check of the same database runs', async () => {
  await fillFolder();
  const output = await inTransaction(database, async (otherCheck) => {
    await otherCheck.query(`SELECT pg_advisory_xact_lock(${CHECK_LOCK})`);
    return runBackup(1);
  });
  expect(output).toContain('another check is running');
});

it('a database whose name has the largest length, 63 characters, is checked too', async () => {
  await fillFolder();
  await withDatabase('x'.repeat(63), async (url) => {
    await runDb(0, { ...settings, DATABASE_URL: url }, 'migrate');
    expect(await runBackup(0, url)).toContain('checked\n');
  });
});

it('--keep needs a number and BACKUP_DIR, and is an option of backup without a file', async () => {
  const withoutFolder = { DATABASE_URL: database.url, DATA_DIR: join(root, 'data') };
  const output = await runDb(1, withoutFolder, 'backup', '--keep', '2');
  expect(output).toBe('--keep needs the setting BACKUP_DIR\n');
  for (const args of [
    ['backup', '--keep', '0'],
    ['backup', 'file', '--keep', '2'],
    ['status', '--keep', '2'],
  ])
    await runDb(2, settings, ...args);
});

describe('the metric of the age of the newest backup', () => {
  async function readAge(port: number): Promise<string | undefined> {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return /^bakery_backup_age_seconds (\S+)$/m.exec(text)?.[1];
  }

  it('counts from the time in the name of the newest checked backup that is not of the future, and is infinite without one', async () => {
    const port = await findFreePort();
    await fillFolder();
    await instance.start({ ...settings, METRICS_PORT: String(port), METRICS_HOST: '127.0.0.1' });
    expect(await readAge(port)).toBe('+Inf');
    const newer = new Date(Date.now() - 3_600_000).toISOString().replaceAll(/[-:]|\.\d+/g, '');
    const ofFuture = 'bakery-99990102T030405Z.tar.gz';
    await fillFolder(OLD, `bakery-${newer}.tar.gz`, ofFuture, `${ofFuture}.unchecked`);
    const age = Number(await readAge(port));
    expect(age).toBeGreaterThanOrEqual(3_600);
    expect(age).toBeLessThan(3_700);
    await rm(folder, { recursive: true });
    await writeFile(folder, '');
    expect(await readAge(port)).toBe('+Inf');
  });
});
