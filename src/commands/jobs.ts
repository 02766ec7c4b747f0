import {
  dropJob,
  freeJobs,
  JOB_STATES,
  type JobChange,
  type JobRecord,
  type JobState,
  listJobs,
  type Queryable,
  retryDeadJobs,
  retryJob,
} from '../jobs/job-table.js';
import { type Action, readAction, readArgs, runCommand, say, UsageError } from './command-line.js';
import { withClient } from './with-client.js';

const HELP = `The work that the service does on its own: mail, image removals, payment checks.

  npm run jobs -- list [--state STATE]   every job, or those of a state
  npm run jobs -- retry ID               runs a job now, with all its tries before it
  npm run jobs -- retry --all-dead       runs every dead job now
  npm run jobs -- drop ID                removes a job: what it was to do is not done

States: waiting: is to run at a later time. due: is to run now, for the first time. running. retrying: failed, and is
repeated with growing gaps. dead: has used up its tries, or cannot succeed (the mail server does not know the
recipient). Nothing happens to a dead job until you retry or drop it. A dropped remove-image leaves the image at its
host for good.

It uses the same settings as the service and may be used while the service runs; a job that is running is neither
retried nor dropped. The list's columns are separated by tabs, and e-mail addresses are shortened.
Exit codes: 0 done (also when there is no job to list or retry), 1 not done, 2 wrong use.
`;

const MAX_BIGINT = 2n ** 63n - 1n;
const ID = 'the number of a job, as list shows it';

/** @throws UsageError that says what is wrong with the command line */
function parse(args: readonly string[]): Action {
  const { positionals, values } = readArgs({
    args: [...args],
    allowPositionals: true,
    options: { state: { type: 'string' }, 'all-dead': { type: 'boolean', default: false } },
  });
  const isAllDead = values['all-dead'];
  const actions = { list: null, retry: isAllDead ? null : ID, drop: ID };
  const { action, argument: id } = readAction(positionals, actions);
  if (values.state !== undefined && action !== 'list') throw new UsageError('--state is an option of list');
  if (isAllDead && action !== 'retry')
    throw new UsageError('--all-dead is an option of retry, without an ID');
  const state = JOB_STATES.find((name) => name === values.state);
  if (values.state !== undefined && state === undefined)
    throw new UsageError(`unknown state ${values.state}: it is one of ${JOB_STATES.join(', ')}`);
  if (!/^\d*$/.test(id)) throw new UsageError(`${action} needs ${ID}`);
  return (_env, { url, isExclusive }) =>
    withClient(url, async (client) => {
      // The service does not run: what is locked was left behind by a process that died.
      if (isExclusive) await freeJobs(client, { olderThanSeconds: 0 });
      if (action === 'list') await list(client, state);
      else if (isAllDead) say(`${await retryDeadJobs(client)} dead jobs run again`);
      else await change(client, id, action === 'retry' ? retryJob : dropJob);
    });
}

async function list(table: Queryable, state: JobState | undefined): Promise<void> {
  const jobs = await listJobs(table, state);
  for (const job of jobs) say(lineOf(job));
  if (jobs.length === 0) say(`there is no ${state === undefined ? '' : `${state} `}job`);
}

function lineOf({ id, state, task, subject, tries, age, lastError }: JobRecord): string {
  const columns = [id, state, task, subject, `${tries} tries`, inWords(age), lastError ?? ''];
  return columns.map(legible).join('\t');
}

/** On one line, and without whole e-mail addresses. */
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

async function change(
  table: Queryable,
  id: string,
  act: (table: Queryable, id: string) => Promise<JobChange>,
): Promise<void> {
  const result = BigInt(id) > MAX_BIGINT ? 'unknown' : await act(table, id);
  if (result === 'unknown') throw new Error(`job ${id}: there is no such job`);
  if (result === 'running') throw new Error(`job ${id}: it is running; wait until it has ended`);
  say(`job ${id}: done`);
}

runCommand(HELP, parse);
