import { parseArgs, type ParseArgsConfig } from 'node:util';
import { type Env, loadDotEnv, findOptionsTakenByNpm, readEnv } from '../config/env.js';
import { migrate } from '../config/migrate.js';
import { type Database, openRunningDatabase } from '../config/database.js';

/**
 * Work of a command.
 * @param open opens the database; called at most once
 * @throws Error with the reason in one line
 */
export type Action = (env: Env, open: () => Promise<Database>) => Promise<void>;

/** The command line is wrong. The message is printed above the help. */
export class UsageError extends Error {}

const HELP_WORDS = new Set(['help', '--help', '-h']);

/**
 * Parses options with Node's `parseArgs`.
 * @throws UsageError for an unknown option, an option without its value, and an option that npm consumed because `--` was
 *   missing
 */
export function readArgs<const T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  // npm itself has an option `yes`.
  const [taken] = findOptionsTakenByNpm(Object.keys(config.options ?? {}).filter((name) => name !== 'yes'));
  if (taken !== undefined)
    throw new UsageError(`npm consumed --${taken}: write -- before the options of the command`);
  try {
    return parseArgs(config);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new UsageError(message.split('. ', 1)[0] ?? message);
  }
}

/**
 * Reads the action of a command line and its argument.
 * @param actions description of each action's argument for messages; null for an action without one
 * @throws UsageError for an unknown action, and for a missing or an extra argument
 */
export function readAction<A extends string>(
  [word, argument = '', ...rest]: readonly string[],
  actions: Readonly<Record<A, string | null>>,
): { readonly action: A; readonly argument: string } {
  const names = Object.keys(actions) as A[];
  const action = names.find((name) => name === word);
  if (action === undefined)
    throw new UsageError(`missing or unknown action: use ${names.join(', ').replace(/, (\w+)$/, ' or $1')}`);
  const needs = actions[action];
  if (needs !== null && argument === '') throw new UsageError(`${action} needs ${needs}`);
  const [extra] = needs === null ? [argument] : rest;
  if (extra) throw new UsageError(`${action} does not accept ${extra}`);
  return { action, argument };
}

/**
 * Runs a command. The service may use the database at the same time. If it does not run, the embedded database is
 * started for the command. Sets the exit code of the process: 0 done, 1 not done, 2 wrong usage.
 *
 * @param parse throws a UsageError for a wrong command line
 * @param prepare brings the opened database into the state that the command needs
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
    let database: Database | undefined;
    try {
      await action(env, async () => {
        database = await openRunningDatabase(env, log);
        await prepare(database.url);
        return database;
      });
    } finally {
      await database?.close();
    }
  };
  execute(process.argv.slice(2)).catch((error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    const isUsage = error instanceof UsageError;
    process.stderr.write(isUsage ? `${message}\n\n${help}` : `${message}\n`);
    process.exitCode = isUsage ? 2 : 1;
  });
}

/** Prints a line of the command's result. */
export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Prints a line about the command's work on the standard error. */
export function warn(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Ignores a pipe that is closed early, as by `| head`: the command has not failed and must still close the database. */
function ignoreClosedOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
