import { connectAndReadMigrationStatus, migrate, revertLastMigration } from '../database/migrate.js';
import { checkBackup } from './backup/check.js';
import { createBackup } from './backup/create.js';
import { restoreBackup, withUnpacked } from './backup/restore.js';
import { createScheduledBackup } from './backup/schedule.js';
import type { BackupSummary } from './backup/write-to-database.js';
import {
  type Command,
  type OpenDatabase,
  parseWholeNumber,
  readAction,
  readArgs,
  runCommand,
  UsageError,
} from './command-line.js';

const HELP = `Backs up and restores the database, and manages its migrations.

  npm run db -- backup FILE      writes the database and the local images into the new FILE
  npm run db -- backup --keep N  writes a backup into BACKUP_DIR, checks it, and removes all but the newest N
  npm run db -- check FILE       restores a backup into a temporary database on the same server, then drops that database
  npm run db -- restore FILE     writes a backup into an empty database, and its images into DATA_DIR
  npm run db -- status           lists the migrations that are applied and those that are pending
  npm run db -- migrate          applies the pending migrations, like every start of the service
  npm run db -- revert [--yes]   reverts the last migration: data in its tables and columns is lost

A backup can be made while the service runs. FILE contains password digests: keep it private. It does not contain
generated keys, mail in DATA_DIR/outbox or images at Cloudinary.
A check needs a user that may create databases. If a check fails, --keep removes no earlier backup that was checked.
A restore verifies the whole file first and writes all rows or none. If it fails, repeat it after removing the cause. If
only the migration of the restored rows fails or is interrupted, run migrate instead.
The database must be empty: set DATABASE_URL to the URL of an empty database or, for the embedded PostgreSQL, DATA_DIR
to a folder that does not exist.
revert leaves the schema of the job queue (graphile-worker) as it is. Stop the service before you revert, because the
service needs the tables and columns that the revert removes. The next start of the same build applies the migration again.
--yes is required in production.

The command uses the settings of the service.
Exit codes: 0 done (also if there was nothing to change), 1 not done, 2 wrong usage.
`;

const FILE_DESCRIPTION = 'the name of a file';

function parse(args: string[]): Command {
  const { positionals, values } = readArgs({
    args,
    allowPositionals: true,
    options: { keep: { type: 'string' }, yes: { type: 'boolean', default: false } },
  });
  if (values.keep !== undefined && positionals[0] !== 'backup')
    throw new UsageError('--keep is an option of backup');
  if (values.yes && positionals[0] !== 'revert') throw new UsageError('--yes is an option of revert');
  const keep =
    values.keep === undefined ? null : parseWholeNumber('--keep', values.keep, { min: 1, max: 9_999 });
  const { action, argument: file } = readAction(positionals, {
    backup: keep === null ? FILE_DESCRIPTION : null,
    check: FILE_DESCRIPTION,
    restore: FILE_DESCRIPTION,
    status: null,
    migrate: null,
    revert: null,
  });
  return async ({ nodeEnv, dataDir, backupDir }, open) => {
    switch (action) {
      case 'backup':
        if (keep === null) return backup((await open()).url, dataDir, file);
        if (backupDir === undefined) throw new Error('--keep needs the setting BACKUP_DIR');
        return backupOnSchedule((await open()).url, dataDir, backupDir, keep);
      case 'check':
        return check(dataDir, open, file);
      case 'restore':
        return restore(dataDir, open, file);
      case 'status':
        return printStatus((await open()).url);
      case 'migrate':
        return applyPending((await open()).url);
      case 'revert':
        if (nodeEnv === 'production' && !values.yes)
          throw new Error('NODE_ENV is production: use --yes to lose the data of the last migration');
        return revert((await open()).url);
    }
  };
}

async function backup(url: string, dataDir: string, file: string): Promise<void> {
  const summary = await createBackup(url, dataDir, file);
  console.log(`${file}: ${describeBackup(summary)}`);
}

async function backupOnSchedule(url: string, dataDir: string, folder: string, keep: number): Promise<void> {
  const { file, summary, removed } = await createScheduledBackup(url, dataDir, folder, keep);
  console.log(`${file}: ${describeBackup(summary)}; checked`);
  for (const name of removed) console.log(`removed ${name}`);
}

async function check(dataDir: string, open: OpenDatabase, file: string): Promise<void> {
  console.error(`checking ${file}`);
  await withUnpacked(file, dataDir, async (unpacked) => {
    const summary = await checkBackup((await open()).url, unpacked);
    const { createdAt } = unpacked.manifest;
    console.log(`${file} can be restored as of ${createdAt}: ${describeBackup(summary)}`);
  });
}

async function restore(dataDir: string, open: OpenDatabase, file: string): Promise<void> {
  console.error(`checking ${file}`);
  // `open` may create the embedded database, so the file is checked first.
  await withUnpacked(file, dataDir, async (unpacked) => {
    const summary = await restoreBackup((await open()).url, dataDir, unpacked);
    console.log(`restored as of ${unpacked.manifest.createdAt}: ${describeBackup(summary)}`);
  });
}

function describeBackup({ tables, rows, images, size }: BackupSummary): string {
  return `${tables} tables, ${rows} rows, ${images} images, ${size} bytes (${(size / 1_000_000).toFixed(1)} MB)`;
}

async function printStatus(url: string): Promise<void> {
  const { applied, pending, unknown } = await connectAndReadMigrationStatus(url);
  for (const name of applied)
    console.log(`applied\t${name}${unknown.includes(name) ? '\tby a newer build' : ''}`);
  for (const name of pending) console.log(`pending\t${name}`);
}

async function applyPending(url: string): Promise<void> {
  const { pending } = await connectAndReadMigrationStatus(url);
  await migrate(url, console.error);
  for (const name of pending) console.log(`applied ${name}`);
  if (pending.length === 0) console.log('there was nothing to apply');
}

async function revert(url: string): Promise<void> {
  const name = await revertLastMigration(url, console.error);
  console.log(
    name === null ? 'no migration is applied' : `reverted ${name}; the job queue's schema is unchanged`,
  );
}

runCommand(HELP, parse);
