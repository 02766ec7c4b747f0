import { once } from 'node:events';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { errorMessage } from '../common/errors/error-info.js';
import type { Env } from '../config/env.js';
import { findOptionTakenByNpm, readEnv } from '../config/read-env.js';
import { type Database, openDatabaseForCommand } from '../database/database.js';

/** Opens the database that the settings name, without migrating it. */
export type OpenDatabase = () => Promise<Database>;
export type Command = (env: Env, open: OpenDatabase) => Promise<void>;

export class UsageError extends Error {}

const HELP_WORDS = new Set(['help', '--help', '-h']);
/** Formats a list as `a, b or c`. */
const ALTERNATIVES = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** @throws UsageError if Node's `parseArgs` rejects the options, or if npm consumed one because `--` was missing */
export function readArgs<const T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  // npm has an option `yes` itself, and the environment may contain it.
  const taken = findOptionTakenByNpm(Object.keys(config.options ?? {}).filter((name) => name !== 'yes'));
  if (taken !== undefined)
    throw new UsageError(`npm consumed --${taken}: write -- before the options of the command`);
  try {
    return parseArgs(config);
  } catch (error) {
    // The first sentence names the mistake. The others give advice for programmers.
    throw new UsageError(errorMessage(error).split('. ', 1)[0]);
  }
}

/** @throws UsageError unless the value of an option is a whole number from `min` to `max` */
export function parseWholeNumber(
  option: string,
  text: string | undefined,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  const number = text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : NaN;
  if (number >= min && number <= max) return number;
  throw new UsageError(`${option} ${text ?? 'is missing: it'} must be a whole number from ${min} to ${max}`);
}

/** @param actions description of each action's argument for messages; null for an action without an argument */
export function readAction<A extends string>(
  [word, argument = '', ...rest]: readonly string[],
  actions: Readonly<Record<A, string | null>>,
): { readonly action: A; readonly argument: string } {
  const names = Object.keys(actions) as A[];
  const action = names.find((name) => name === word);
  if (action === undefined)
    throw new UsageError(`missing or unknown action: use ${ALTERNATIVES.format(names)}`);
  const description = actions[action];
  if (description !== null && argument === '') throw new UsageError(`${action} needs ${description}`);
  const [extra] = description === null ? [argument] : rest;
  if (extra) throw new UsageError(`${action} does not accept ${extra}`);
  return { action, argument };
}

/** Runs a command and closes its database. After a failure, prints the error and ends the process. */
export function runCommand(help: string, parse: (args: string[]) => Command): void {
  // A pipe that is closed early, as by `| head`, must not end the process before the database is closed.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  const execute = async (args: string[]): Promise<void> => {
    if (args.some((arg) => HELP_WORDS.has(arg))) return void process.stdout.write(help);
    const command = parse(args);
    const env = readEnv();
    const stopping = abortOnSignal();
    let opening: Promise<Database> | undefined;
    try {
      const open = () => (opening ??= openDatabaseForCommand(env, console.error, stopping));
      await Promise.race([command(env, open), once(stopping, 'abort')]);
      stopping.throwIfAborted();
    } finally {
      // After an abort, the embedded database may still be starting.
      const database = await opening?.catch(() => undefined);
      await database?.close?.();
    }
  };
  execute(process.argv.slice(2)).catch((error: unknown) => {
    const isUsage = error instanceof UsageError;
    process.stderr.write(`${errorMessage(error)}\n${isUsage ? `\n${help}` : ''}`);
    process.exit(isUsage ? 2 : 1); // After an abort, the command may still have open connections.
  });
}

function abortOnSignal(): AbortSignal {
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    // `on`, not `once`: a second signal must not end the process before the database is closed.
    process.on(name, stopping.abort.bind(stopping, new Error(`stopped by ${name}`)));
  return stopping.signal;
}
