import { parseArgs, type ParseArgsConfig } from 'node:util';
import { type Env, loadDotEnv, optionsTakenByNpm, readEnv } from '../config/env.js';
import { migrate } from '../config/migrate.js';
import { type Database, openRunningDatabase } from '../config/database.js';

/** What a well-formed command line asks for; throws with the reason when it cannot be done. */
export type Action = (env: Env, database: Database) => Promise<void>;

/** The command line is wrong; the message says why and is shown above the help. */
export class UsageError extends Error {}

const HELP_WORDS = new Set(['help', '--help', '-h']);

/**
 * Node's `parseArgs`.
 * @throws UsageError for an unknown option, one without its value, or one that npm took because `--` was missing
 */
export function readArgs<const T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  // Not `yes`, which is an option of npm as well.
  const [taken] = optionsTakenByNpm(Object.keys(config.options ?? {}).filter((name) => name !== 'yes'));
  if (taken !== undefined)
    throw new UsageError(`npm took --${taken} for itself: write -- before the options of the command`);
  try {
    return parseArgs(config);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new UsageError(message.split('. ', 1)[0] ?? message);
  }
}

/**
 * The first word of a command line, and the one that may follow it.
 * @param actions what each word needs after it, for messages; null: nothing
 * @throws UsageError for another word, one that is missing, and one too many
 */
export function readAction<A extends string>(
  [word, argument = '', ...rest]: readonly string[],
  actions: Readonly<Record<A, string | null>>,
): { readonly action: A; readonly argument: string } {
  const names = Object.keys(actions) as A[];
  const action = names.find((name) => name === word);
  if (action === undefined) throw new UsageError(`say ${names.join(', ').replace(/, (\w+)$/, ' or $1')}`);
  const needs = actions[action];
  if (needs !== null && argument === '') throw new UsageError(`${action} needs ${needs}`);
  const [extra] = needs === null ? [argument] : rest;
  if (extra) throw new UsageError(`${action}: ${extra} is too much`);
  return { action, argument };
}

/**
 * Runs a command on the service's database. The service may be using the database at the same time; if it does not run,
 * the embedded database is started for the command. Sets the exit code of the process: 0 done, 1 not done, 2 wrong use.
 *
 * @param parse throws a UsageError for a wrong command line
 * @param prepare what happens to the database first: it is migrated unless said otherwise
 * @param log receives a line about the start of the embedded database
 */
export function runCommand(
  help: string,
  parse: (args: readonly string[]) => Action,
  prepare: (databaseUrl: string) => Promise<void> = migrate,
  log: (line: string) => void = () => undefined,
): void {
  ignoreClosedOutput();
  const execute = async (args: readonly string[]): Promise<void> => {
    if (args.some((arg) => HELP_WORDS.has(arg))) {
      process.stdout.write(help);
      return;
    }
    const action = parse(args);
    loadDotEnv();
    const env = readEnv();
    const database = await openRunningDatabase(env, log);
    try {
      await prepare(database.url);
      await action(env, database);
    } finally {
      await database.close();
    }
  };
  execute(process.argv.slice(2)).catch((error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    const isUsage = error instanceof UsageError;
    process.stderr.write(isUsage ? `${message}\n\n${help}` : `${message}\n`);
    process.exitCode = isUsage ? 2 : 1;
  });
}

/** Writes a line of the command's result. */
export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Writes a line about the command's work, on the standard error. */
export function warn(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** `| head` closes the pipe before everything is written. That is no failure, and the database is still closed. */
function ignoreClosedOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
