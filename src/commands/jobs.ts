import pg from 'pg';
import { parseArgs } from 'node:util';
import {
  dropJob,
  freeJobsLockedFor,
  JOB_STATES,
  type JobChange,
  type JobRecord,
  type JobState,
  listJobs,
  type Queryable,
  retryDeadJobs,
  retryJob,
} from '../jobs/job-table.js';
import { type Action, type ExitCode, runCommand } from './command-line.js';

const HELP = `The work that the service does on its own: mail, image removals, payment checks.

  npm run jobs -- list [--state due|running|retrying|dead]   every job, or those of a state
  npm run jobs -- retry ID                                   runs a job now, with all its tries before it
  npm run jobs -- retry --all-dead                           runs every dead job now
  npm run jobs -- drop ID                                    removes a job: what it was to do is not done

due: waits for its first try. retrying: failed, and is repeated with growing gaps. dead: has used up its tries, or
cannot succeed (the mail server does not know the recipient). Nothing happens to a dead job until you retry or drop
it. A dropped remove-image leaves the image at its host for good.

It uses the same settings as the service and may be used while the service runs; a job that is running is neither
retried nor dropped. Columns of the list, separated by tabs: id, state, task, what it is about, tries, age, last
error. E-mail addresses are shortened.
Exit codes: 0 done (also when there is no job to list or retry), 1 not done, 2 wrong use.
`;

const PAGE = 500;
const MAX_BIGINT = 2n ** 63n - 1n;

function parse(args: readonly string[]): Action | null {
  const line = readArgs(args);
  if (line === null) return null;
  const { action, id, rest, state, isAllDead } = line;
  if (rest.length > 0) return null;
  if (action === 'list' && id === undefined && !isAllDead) {
    return state === undefined || isJobState(state) ? onTable((table) => list(table, state)) : null;
  }
  if (state !== undefined) return null;
  if (action === 'retry' && isAllDead && id === undefined) return onTable(retryAll);
  if (id === undefined || !/^\d+$/.test(id) || isAllDead) return null;
  if (action === 'retry') return onTable((table) => change(table, id, retryJob));
  if (action === 'drop') return onTable((table) => change(table, id, dropJob));
  return null;
}

function readArgs(args: readonly string[]) {
  try {
    const { positionals, values } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { state: { type: 'string' }, 'all-dead': { type: 'boolean', default: false } },
    });
    const [action, id, ...rest] = positionals;
    return { action, id, rest, state: values.state, isAllDead: values['all-dead'] };
  } catch {
    return null; // An unknown option, or one without its value: wrong use.
  }
}

function isJobState(text: string): text is JobState {
  return (JOB_STATES as readonly string[]).includes(text);
}

function onTable(act: (table: Queryable) => Promise<ExitCode>): Action {
  return async (_env, { url, isExclusive }) => {
    const client = new pg.Client({ connectionString: url, application_name: 'bakery-jobs-command' });
    client.on('error', () => {
      // The statement that runs reports it; without a listener Node would end the process.
    });
    await client.connect();
    try {
      // The service does not run, so whatever is locked was left behind by one that died.
      if (isExclusive) await freeJobsLockedFor(client, 0);
      return await act(client);
    } finally {
      await client.end();
    }
  };
}

async function list(table: Queryable, state: JobState | undefined): Promise<ExitCode> {
  let lastId = '0';
  let page: JobRecord[];
  let count = 0;
  do {
    page = await listJobs(table, state, lastId, PAGE);
    for (const job of page) process.stdout.write(`${lineOf(job)}\n`);
    count += page.length;
    lastId = page.at(-1)?.id ?? lastId;
  } while (page.length === PAGE && process.stdout.writable);
  if (count === 0) process.stdout.write(`there is no ${state === undefined ? '' : `${state} `}job\n`);
  return 0;
}

function lineOf({ id, state, task, subject, tries, age, lastError }: JobRecord): string {
  const columns = [id, state, task, subject, `${tries} tries`, inWords(age), lastError ?? ''];
  return columns.map(legible).join('\t');
}

/** Of one line, and without whole e-mail addresses, whoever wrote it. */
function legible(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .replaceAll(/([^\s<>@])[^\s<>@]*@/g, '$1***@')
    .slice(0, 300);
}

function inWords(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 2 * 3600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 2 * 86_400 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`;
}

async function retryAll(table: Queryable): Promise<ExitCode> {
  process.stdout.write(`${await retryDeadJobs(table)} dead jobs run again\n`);
  return 0;
}

async function change(
  table: Queryable,
  id: string,
  act: (table: Queryable, id: string) => Promise<JobChange>,
): Promise<ExitCode> {
  const result = BigInt(id) > MAX_BIGINT ? 'unknown' : await act(table, id);
  if (result === 'done') {
    process.stdout.write(`job ${id}: done\n`);
    return 0;
  }
  const reason = result === 'unknown' ? 'there is no such job' : 'it is running; wait until it has ended';
  process.stderr.write(`job ${id}: ${reason}\n`);
  return 1;
}

runCommand(HELP, parse);
