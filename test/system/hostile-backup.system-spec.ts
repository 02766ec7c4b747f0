import { execFile } from 'node:child_process';
import { hash, randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { importBuilt } from '../support/built.js';
import { createDatabase, createEmptyDatabase, type TestDatabase } from '../support/databases.js';
import { runDb } from '../support/db-command.js';
import { createPng } from '../support/pictures.js';
import { useFolder } from '../support/process.js';

/** Fields of a backup's manifest that the tests change. */
interface Manifest {
  migrations: string[];
  tables: { name: string; columns: string[] }[];
  sequences: Record<string, string>;
  checksums: Record<string, string>;
}

const IMAGE = randomUUID();
const IMAGE_PATH = join('images', IMAGE.slice(0, 2), `${IMAGE}.png`);
const USERS_FILE = 'tables/public.users';
const isUsersTable = ({ name }: { name: string }) => name === 'public.users';

const source = await createDatabase();
const root = await useFolder('bakery-hostile-backup-');
let target: TestDatabase;

beforeEach(async () => {
  target = await createEmptyDatabase();
});

const pathTo = (name: string): string => join(root, name);
const run = promisify(execFile);

beforeAll(async () => {
  await source.query(`
    INSERT INTO users (fullname, email, password_hash) VALUES ('Wayan', 'wayan@example.com', 'x');
    INSERT INTO products (name, description, price) VALUES ('Kue lapis', 'Eighteen layers', 185000);
    INSERT INTO images (id, host, state, product_id, position, url)
      VALUES ('${IMAGE}', 'local', 'attached', (SELECT max(id) FROM products), 1, '${IMAGE}.png')`);
  await fs.mkdir(join(pathTo('source'), 'images', IMAGE.slice(0, 2)), { recursive: true });
  await fs.writeFile(join(pathTo('source'), IMAGE_PATH), createPng(0));
  const settings = { DATABASE_URL: source.url, DATA_DIR: pathTo('source') };
  await runDb(0, settings, 'backup', pathTo('honest.backup'));
  await fs.mkdir(pathTo('honest'));
  await run('tar', ['-xzf', pathTo('honest.backup'), '-C', pathTo('honest')]);
});

/**
 * Packs a changed copy of the honest backup.
 * @param tarOptions additional options of tar
 * @returns path of the new backup
 */
async function forge(change: (folder: string) => Promise<unknown>, ...tarOptions: string[]): Promise<string> {
  const folder = await fs.mkdtemp(pathTo('forged-'));
  await fs.cp(pathTo('honest'), folder, { recursive: true });
  await change(folder);
  await run('tar', ['-czf', `${folder}.backup`, ...tarOptions, '-C', folder, '.']);
  return `${folder}.backup`;
}

/** Recomputes the checksums in the manifest of an unpacked backup, then changes the manifest. */
async function rewriteManifest(folder: string, change?: (manifest: Manifest) => unknown): Promise<void> {
  const path = join(folder, 'manifest.json');
  const manifest = JSON.parse(await fs.readFile(path, 'utf8')) as Manifest;
  manifest.checksums = {};
  for (const entry of await fs.readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name === 'manifest.json') continue;
    const file = join(entry.parentPath, entry.name);
    manifest.checksums[file.slice(folder.length + 1)] = hash('sha256', await fs.readFile(file));
  }
  change?.(manifest);
  await fs.writeFile(path, JSON.stringify(manifest));
}

/** Restores a backup in this process, because the start of a command takes longer than all its checks. */
async function restore(backup: string, databaseUrl: string, dataDir: string): Promise<unknown> {
  const { restoreBackup, withUnpacked } = await importBuilt('src/commands/backup/restore.js');
  return withUnpacked(backup, dataDir, (content) => restoreBackup(databaseUrl, dataDir, content));
}

/** Expects that a restore into an empty database fails with an error of one line and leaves no rows and no files. */
async function expectRejected(backup: string, problem: RegExp): Promise<void> {
  const dataDir = pathTo(`data-${randomUUID()}`);
  const { message } = await restore(backup, target.url, dataDir).then(
    () => new Error('restored'),
    (error: unknown) => error as Error,
  );
  expect(message).toMatch(problem);
  expect(message).not.toContain('\n');
  const { withClient } = await importBuilt('src/database/with-client.js');
  const { assertNoRows } = await importBuilt('src/commands/backup/tables.js');
  await withClient(target.url, assertNoRows);
  expect(await fs.readdir(dataDir)).toEqual([]);
}

it('an unchanged backup is restored with its image, even if the file name of the backup contains a colon', async () => {
  // Given a relative path, tar would look for `host:file` on another machine.
  await fs.cp(pathTo('honest.backup'), pathTo('host:honest.backup'));
  const command = [resolve('dist/src/commands/db.js'), 'restore', 'host:honest.backup'];
  const env = { PATH: process.env.PATH, DATABASE_URL: target.url, DATA_DIR: pathTo('restored') };
  const { stdout } = await run(process.execPath, command, { cwd: root, env });
  const { size } = await fs.stat(pathTo('honest.backup'));
  const summary = `\\d+ tables, \\d+ rows, 1 images, ${size} bytes \\(0\\.0 MB\\)`;
  expect(stdout).toMatch(new RegExp(`^restored as of \\S+: ${summary}\n$`));
  expect(await fs.readFile(join(pathTo('restored'), IMAGE_PATH))).toEqual(createPng(0));
  expect(await target.query('SELECT email FROM users')).toEqual([{ email: 'wayan@example.com' }]);
});

const DAMAGED = /is not a backup, or it was truncated or changed$/;
const WRONG_TABLES = /its tables are not those that its migrations create/;

/** Returns a function that changes the manifest of an unpacked backup. */
const inManifest = (change: (manifest: Manifest) => unknown) => (folder: string) =>
  rewriteManifest(folder, change);

it.each<[string, (folder: string) => Promise<void>, RegExp]>([
  [
    'has an unknown format',
    inManifest((manifest) => Object.assign(manifest, { format: 3 })),
    /has a format that this build does not read/,
  ],
  ['has no list of tables', inManifest((manifest) => Object.assign(manifest, { tables: 'x' })), DAMAGED],
  [
    // A file may not have such a name, so SQL in the name of a table is rejected here.
    'names a table that it has no file for',
    inManifest(({ tables }) =>
      tables.push({ name: 'public.users; CREATE TABLE pwned (); --', columns: ['id'] }),
    ),
    /is not complete/,
  ],
  [
    'contains SQL in the name of a column',
    inManifest(({ tables }) => tables.find(isUsersTable)?.columns.push("id) FROM PROGRAM 'touch pwned' --")),
    WRONG_TABLES,
  ],
  ['lacks a column', inManifest(({ tables }) => tables.find(isUsersTable)?.columns.pop()), WRONG_TABLES],
  [
    'lacks a table',
    async (folder) => {
      await fs.rm(join(folder, USERS_FILE));
      await rewriteManifest(folder, ({ tables }) => tables.splice(tables.findIndex(isUsersTable), 1));
    },
    WRONG_TABLES,
  ],
  [
    'contains SQL in the name of a sequence',
    inManifest(({ sequences }) => (sequences['public.users_id_seq; DROP TABLE users'] = '1')),
    /^invalid name syntax$/,
  ],
  [
    'has a migration of a newer build',
    inManifest(({ migrations }) => (migrations[0] = 'Tomorrow1999999999999')),
    /made by a newer build: this one does not know Tomorrow1999999999999/,
  ],
  ['lacks a file', (folder) => fs.rm(join(folder, IMAGE_PATH)), /is not complete: "images\/.*" is missing$/],
  [
    'contains changed rows',
    (folder) => fs.appendFile(join(folder, USERS_FILE), 'x'),
    /was changed: tables\/public\.users has another checksum/,
  ],
  [
    'contains rows that the database rejects',
    async (folder) => {
      await fs.appendFile(join(folder, USERS_FILE), 'nonsense\n');
      await rewriteManifest(folder);
    },
    /^the rows of public\.users cannot be written: /,
  ],
])('a backup that %s is rejected and leaves no rows and no files', async (_title, change, problem) => {
  await expectRejected(await forge(change), problem);
});

it.each<[string, (folder: string) => Promise<unknown>, string[]?]>([
  [
    'a symbolic link to a file of the machine',
    async (folder) => {
      await fs.rm(join(folder, IMAGE_PATH));
      await fs.symlink('/etc/passwd', join(folder, IMAGE_PATH));
    },
  ],
  ['a hard link', (folder) => fs.link(join(folder, IMAGE_PATH), join(folder, 'images', `${IMAGE}.png`))],
  ['a program in the folder of images', (folder) => fs.writeFile(join(folder, 'images', 'run.sh'), '')],
  ['a FIFO', (folder) => run('mkfifo', [join(folder, 'tables', 'public.fifo')])],
  [
    'a path that begins with /',
    (folder) => fs.appendFile(join(folder, 'passwd'), ''),
    ['-P', `--transform=s,^./passwd,${pathTo('pwned')},`],
  ],
])('an archive with %s is rejected and leaves no rows and no files', async (_title, change, options = []) => {
  const backup = await forge(
    async (folder) => {
      await change(folder);
      await rewriteManifest(folder);
    },
    ...options,
  );
  await expectRejected(backup, /which is not part of a backup$/);
  expect(await fs.readdir(root)).not.toContain('pwned');
});

it('a backup with a sparse file of 20 GB is rejected without reading the file', async () => {
  const grow = (folder: string) => fs.truncate(join(folder, USERS_FILE), 20e9);
  await expectRejected(await forge(grow, '--sparse'), DAMAGED);
});

it('an archive with a path outside its folder is rejected and leaves no rows and no files', async () => {
  const add = (folder: string) => fs.writeFile(join(folder, 'escaped'), '');
  const backup = await forge(add, '-P', '--transform=s,^./escaped,../../escaped,');
  await expectRejected(backup, DAMAGED);
  expect(await fs.readdir(root)).not.toContain('escaped');
});

it('a restored image has the mode of a new file regardless of the mode in the archive', async () => {
  const backup = await forge((folder) => fs.chmod(join(folder, IMAGE_PATH), 0o6777));
  const dataDir = pathTo('modes');
  await restore(backup, target.url, dataDir);
  const forbiddenBits = 0o7133; // setuid, setgid, sticky; executable for anyone; writable for group and others
  expect((await fs.stat(join(dataDir, IMAGE_PATH))).mode & forbiddenBits).toBe(0);
});

it('a restore that fails while it copies images keeps the images that existed before, and can be repeated', async () => {
  const dataDir = pathTo('kept');
  const before = join(dataDir, 'images', 'aa', `${randomUUID()}.png`);
  await fs.mkdir(join(before, '..'), { recursive: true });
  await fs.writeFile(before, createPng(1));
  // The folder already has one image of the backup, IMAGE. `blocked` cannot be written, because a folder has the name of its
  // temporary file.
  await fs.mkdir(join(dataDir, IMAGE_PATH, '..'), { recursive: true });
  await fs.writeFile(join(dataDir, IMAGE_PATH), createPng(0));
  const blocked = randomUUID();
  const obstacle = join(dataDir, 'images', blocked.slice(0, 2), `${blocked}.png.restore`);
  await fs.mkdir(obstacle, { recursive: true });
  const backup = await forge(async (folder) => {
    // The backup may store an image in any folder below `images`.
    await fs.mkdir(join(folder, 'images', 'zz'));
    await fs.writeFile(join(folder, 'images', 'zz', `${blocked}.png`), createPng(2));
    await rewriteManifest(folder);
  });
  const settings = { DATABASE_URL: target.url, DATA_DIR: dataDir };
  await runDb(1, settings, 'restore', backup);
  expect(await target.query('SELECT FROM users')).toEqual([]);
  expect(await fs.readFile(before)).toEqual(createPng(1));
  expect(await fs.readFile(join(dataDir, IMAGE_PATH))).toEqual(createPng(0));
  await fs.rmdir(obstacle);
  await runDb(0, settings, 'restore', backup);
  expect(await fs.readFile(join(dataDir, 'images', blocked.slice(0, 2), `${blocked}.png`))).toEqual(
    createPng(2),
  );
});

it.each<[string, (honest: Buffer) => Buffer | string]>([
  ['contains a text', () => 'a text'],
  ['was truncated', (bytes) => bytes.subarray(0, -200)],
  ['has a changed byte', (bytes) => bytes.fill((bytes[999] ?? 0) ^ 1, 999, 1000)],
])('a file that %s is rejected with one line', async (_title, change) => {
  await fs.writeFile(pathTo('foreign'), change(await fs.readFile(pathTo('honest.backup'))));
  await expectRejected(pathTo('foreign'), /foreign is not a backup, or it was truncated or changed$/);
});

it('a file that does not exist and a folder are rejected with one line', async () => {
  await expectRejected(pathTo('no-such.backup'), /^ENOENT: no such file or directory.*no-such\.backup'$/);
  await expectRejected(root, /is not a backup, or it was truncated or changed$/);
});
