import { type Env, loadDotEnv, readEnv } from '../config/env.js';
import { migrate } from '../config/migrate.js';
import { type OpenDatabase, openRunningDatabase } from '../config/open-database.js';

/** 0 done (also when there was nothing to change), 1 not done, 2 wrong use. */
export type ExitCode = 0 | 1 | 2;

/** What a well-formed command line asks for. */
export type Action = (env: Env, database: OpenDatabase) => Promise<ExitCode>;

/** The same where the command opens the database by itself, or none. */
export type OwnAction = (env: Env) => Promise<ExitCode>;

const HELP_WORDS = new Set(['help', '--help', '-h']);

/**
 * Runs a command on the service's database, migrated, which the service may be using at the same time; where it does
 * not run, the embedded database is started for the command. Ends the process's work with its exit code.
 *
 * @param parse gives null for a command line that is wrong, which is answered with the help text
 */
export function runCommand(help: string, parse: (args: readonly string[]) => Action | null): void {
  runOwnCommand(help, (args) => {
    const action = parse(args);
    return action === null ? null : (env) => onDatabase(env, action);
  });
}

/** Runs a command that takes care of its database itself; otherwise like `runCommand`. */
export function runOwnCommand(help: string, parse: (args: readonly string[]) => OwnAction | null): void {
  endWhenUnread();
  execute(process.argv.slice(2), help, parse).then(
    (exitCode) => {
      process.exitCode = exitCode;
    },
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
      process.exitCode = 1;
    },
  );
}

async function execute(
  args: readonly string[],
  help: string,
  parse: (args: readonly string[]) => OwnAction | null,
): Promise<ExitCode> {
  if (args.some((arg) => HELP_WORDS.has(arg))) {
    process.stdout.write(help);
    return 0;
  }
  const action = parse(args);
  if (action === null) {
    process.stderr.write(help);
    return 2;
  }
  loadDotEnv();
  return await action(readEnv());
}

async function onDatabase(env: Env, action: Action): Promise<ExitCode> {
  const database = await openRunningDatabase(env, () => undefined);
  try {
    await migrate(database.url);
    return await action(env, database);
  } finally {
    await database.close();
  }
}

/** `| head` closes the pipe before everything is written: no failure, and the database is still closed. */
function endWhenUnread(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
