import type pg from 'pg';
import { parseArgs } from 'node:util';
import { migrations } from '../config/data-source.js';
import { createBackup } from '../config/embedded-postgres/backup/create.js';
import { restoreBackup } from '../config/embedded-postgres/backup/restore.js';
import { hasCluster } from '../config/embedded-postgres/cluster.js';
import type { Env } from '../config/env.js';
import { migrate, migrationStatus, revertLastMigration } from '../config/migrate.js';
import { type OpenDatabase, openRunningDatabase } from '../config/open-database.js';
import { type ExitCode, type OwnAction, runOwnCommand } from './command-line.js';
import { namedImages, pruneImages } from './named-images.js';
import { progressOf } from './progress.js';

const HELP = `The database: copies of it, and its schema.

  npm run db -- backup DIR               copies database, local images and generated keys into the new folder DIR
  npm run db -- restore DIR [--replace]  puts such a copy into DATA_DIR; --replace moves what is there aside
  npm run db -- status                   the migrations that are applied, and those that are not
  npm run db -- migrate                  applies all that are not, as every start of the service does
  npm run db -- revert                   takes back the last one, and loses what only its tables and columns hold

backup works while the service runs and while it does not. It holds all that was committed before it began, and every
image of every product in it. DIR holds passwords and keys: it is made for its owner alone, keep it so. Mail in
DATA_DIR/outbox and images at Cloudinary are not in it. One that was interrupted leaves DIR.partial-N, which the next
backup to DIR removes.
restore wants the service stopped. It checks every file first, recovers the copy beside its place and changes nothing
if that fails. A database that was there is never deleted: it is named, and yours to remove.
Both are for the embedded database. With DATABASE_URL use pg_dump and pg_restore, or your provider's snapshots.
revert never touches the schema of the job queue (graphile-worker), which has no way back. Stop the service before it:
the next start applies the migration again.

It uses the same settings as the service.
Exit codes: 0 done (also when there was nothing to change), 1 not done, 2 wrong use.
`;

const ELSEWHERE = `DATABASE_URL names a database of yours, and backup and restore are for the embedded one. Use
  pg_dump --format=custom --file=bakery.dump "$DATABASE_URL"
  pg_restore --clean --if-exists --dbname="$DATABASE_URL" bakery.dump
or the snapshots of your provider, and copy DATA_DIR/images after the dump if images are kept there.
`;

function parse(args: readonly string[]): OwnAction | null {
  const line = readArgs(args);
  if (line === null || line.rest.length > 0) return null;
  const { action, folder, replace } = line;
  if (action === 'restore' && folder !== undefined)
    return embeddedOnly((env) => restore(env, folder, replace));
  if (replace) return null;
  if (action === 'backup' && folder !== undefined) return embeddedOnly((env) => backup(env, folder));
  if (folder !== undefined) return null;
  if (action === 'status') return onDatabase(status);
  if (action === 'migrate') return onDatabase(applyAll);
  if (action === 'revert') return onDatabase(revert);
  return null;
}

function readArgs(args: readonly string[]) {
  try {
    const { positionals, values } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { replace: { type: 'boolean', default: false } },
    });
    const [action, folder, ...rest] = positionals;
    return folder === '' ? null : { action, folder, rest, replace: values.replace };
  } catch {
    return null; // An unknown option: wrong use.
  }
}

function embeddedOnly(act: OwnAction): OwnAction {
  return (env) => {
    if (env.databaseUrl === undefined) return act(env);
    process.stderr.write(ELSEWHERE);
    return Promise.resolve(2);
  };
}

function onDatabase(act: (database: OpenDatabase) => Promise<ExitCode>): OwnAction {
  return async (env) => {
    const database = await openRunningDatabase(env, warn);
    try {
      return await act(database);
    } finally {
      await database.close();
    }
  };
}

async function backup(env: Env, folder: string): Promise<ExitCode> {
  if (!(await hasCluster(env.dataDir))) {
    process.stderr.write(`there is no database in ${env.dataDir}\n`);
    return 1;
  }
  return await onDatabase(async () => {
    const { files, bytes, missing } = await createBackup({
      dataDir: env.dataDir,
      folder,
      named: namedImages,
      migrations: migrationsOf,
      progress: progressOf,
      log: warn,
    });
    for (const path of missing) warn(`${path} is not in the backup: a product names it, and it is not there`);
    say(`${folder}: ${files} files, ${megabytes(bytes)}`);
    return 0;
  })(env);
}

async function restore(env: Env, folder: string, replace: boolean): Promise<ExitCode> {
  const { manifest, found, movedAside } = await restoreBackup({
    dataDir: env.dataDir,
    folder,
    replace,
    knownMigrations: migrations.map((Migration) => new Migration().name),
    finish: async (session, images) => ({
      pruned: await pruneImages(session, images),
      counts: (await migrationsOf(session)).length > 0 ? await countsOf(session) : null,
    }),
    log: warn,
    progress: progressOf,
  });
  for (const path of movedAside) say(`moved aside: ${path}`);
  say(`restored as of ${manifest.createdAt}`);
  if (found.pruned > 0) say(`${found.pruned} images that no product has were left out`);
  if (found.counts !== null) say(found.counts);
  return 0;
}

async function migrationsOf(session: pg.Client): Promise<string[]> {
  const { rows } = await session.query<{ is: boolean }>("SELECT to_regclass('migrations') IS NOT NULL AS is");
  if (rows[0]?.is !== true) return [];
  return (await session.query<{ name: string }>('SELECT name FROM migrations ORDER BY id')).rows.map(
    ({ name }) => name,
  );
}

async function countsOf(session: pg.Client): Promise<string> {
  const { rows } = await session.query<Record<'accounts' | 'products' | 'orders', string>>(
    `SELECT (SELECT count(*) FROM users) AS accounts, (SELECT count(*) FROM products) AS products,
       (SELECT count(*) FROM orders) AS orders`,
  );
  const { accounts = '0', products = '0', orders = '0' } = rows[0] ?? {};
  return `${accounts} accounts, ${products} products, ${orders} orders`;
}

async function status({ url }: OpenDatabase): Promise<ExitCode> {
  const { applied, pending, unknown, queueRevision } = await migrationStatus(url);
  for (const name of applied) say(`applied\t${name}${unknown.includes(name) ? '\tby a newer build' : ''}`);
  for (const name of pending) say(`pending\t${name}`);
  say(`job queue\trevision ${queueRevision}`);
  return 0;
}

async function applyAll({ url }: OpenDatabase): Promise<ExitCode> {
  const { pending } = await migrationStatus(url);
  await migrate(url, warn);
  for (const name of pending) say(`applied ${name}`);
  if (pending.length === 0) say('there was nothing to apply');
  return 0;
}

async function revert({ url }: OpenDatabase): Promise<ExitCode> {
  const name = await revertLastMigration(url, warn);
  say(name === null ? 'no migration is applied' : `reverted ${name}; the job queue's schema is as it was`);
  return 0;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function warn(line: string): void {
  process.stderr.write(`${line}\n`);
}

runOwnCommand(HELP, parse);
