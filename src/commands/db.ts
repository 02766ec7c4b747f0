import type { Env } from '../config/env.js';
import { migrate, migrationStatus, revertLastMigration } from '../config/migrate.js';
import type { Database } from '../config/database.js';
import { createBackup } from './backup/create.js';
import { restoreBackup } from './backup/restore.js';
import { type Action, readAction, readArgs, runCommand, say, warn } from './command-line.js';

const HELP = `The database: copies of it, and its schema.

  npm run db -- backup FILE    writes the database and the local images into the new FILE
  npm run db -- restore FILE   puts such a copy into an empty database, and its images into DATA_DIR
  npm run db -- status         the migrations that are applied, and those that are not
  npm run db -- migrate        applies all that are not, as every start of the service does
  npm run db -- revert         takes back the last one, and loses what only its tables and columns hold

backup works while the service runs and while it does not. FILE holds password digests: keep it private. It does not hold
generated keys, mail in DATA_DIR/outbox and images at Cloudinary.
restore checks the whole file first and writes all or nothing. The database must be empty: name a new one, or a DATA_DIR
that does not exist.
revert never touches the schema of the job queue (graphile-worker). Stop the service before it: the next start applies the
migration again.

It uses the same settings as the service.
Exit codes: 0 done (also when there was nothing to change), 1 not done, 2 wrong use.
`;

const FILE = 'the name of a file';
const ACTIONS = { backup: FILE, restore: FILE, status: null, migrate: null, revert: null };

function parse(args: readonly string[]): Action {
  const { positionals } = readArgs({ args: [...args], allowPositionals: true });
  const { action, argument } = readAction(positionals, ACTIONS);
  const act = { backup, restore, status, migrate: applyAll, revert }[action];
  return (env, database) => act(env, database, argument);
}

async function backup({ dataDir }: Env, { url }: Database, file: string): Promise<void> {
  if ((await migrationStatus(url)).applied.length === 0)
    throw new Error('the database has no tables: there is nothing to back up');
  const bytes = await createBackup(url, dataDir, file);
  say(`${file}: ${(bytes / 1_000_000).toFixed(1)} MB`);
}

async function restore({ dataDir }: Env, { url }: Database, file: string): Promise<void> {
  say(`restored as of ${await restoreBackup(url, dataDir, file, warn)}`);
}

async function status(_: Env, { url }: Database): Promise<void> {
  const { applied, pending, unknown } = await migrationStatus(url);
  for (const name of applied) say(`applied\t${name}${unknown.includes(name) ? '\tby a newer build' : ''}`);
  for (const name of pending) say(`pending\t${name}`);
}

async function applyAll(_: Env, { url }: Database): Promise<void> {
  const { pending } = await migrationStatus(url);
  await migrate(url, warn);
  for (const name of pending) say(`applied ${name}`);
  if (pending.length === 0) say('there was nothing to apply');
}

async function revert(_: Env, { url }: Database): Promise<void> {
  const name = await revertLastMigration(url, warn);
  say(name === null ? 'no migration is applied' : `reverted ${name}; the job queue's schema is as it was`);
}

// The schema is what these commands are about, so it is not brought up to date first.
runCommand(HELP, parse, () => Promise.resolve(), warn);
