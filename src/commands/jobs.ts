import { migrate } from '../database/migrate.js';
import { withClient } from '../database/with-client.js';
import {
  changeJob,
  JOB_STATES,
  JOBS,
  type JobState,
  type Queryable,
  retryAllJobs,
  unlockStaleJobs,
} from '../jobs/job-table.js';
import { toMaskedLine } from '../mail/delivery-error.js';
import { type Command, readAction, readArgs, runCommand, UsageError } from './command-line.js';

const HELP = `Background jobs of the service: mails, image removals, payment checks.

  npm run jobs -- list [--state STATE]   lists all jobs, or those in a state
  npm run jobs -- retry ID               makes a job due now, with all its tries again; the service runs it
  npm run jobs -- retry --all-dead       makes every dead job due now, with all its tries again
  npm run jobs -- retry --all-retrying   the same for every job that waits for its next try, for example after an outage
  npm run jobs -- drop ID                removes a job without running it

States: waiting (scheduled for later), due (can run now, first try), running, retrying (failed; retried after growing
pauses), dead (no tries left, or the job cannot succeed because the mail server does not know the recipient). Dead
jobs stay until you retry or drop them. If you drop a remove-image job, the image stays at its host forever.

The columns of the list are separated by tabs. For a mail job, customer is the address of the account. Other email
addresses are masked.
The command uses the settings of the service. It can be used while the service runs; a running job is neither retried
nor dropped.
Exit codes: 0 done (also if list or an option --all-… finds no job), 1 not done, 2 wrong usage.
`;

const HEADER = ['id', 'state', 'task', 'subject', 'customer', 'tries', 'age', 'last error'].join('\t');
const ID_DESCRIPTION = 'the id of a job, as list shows it';

function parse(args: string[]): Command {
  const { positionals, values } = readArgs({
    args,
    allowPositionals: true,
    options: {
      state: { type: 'string' },
      'all-dead': { type: 'boolean' },
      'all-retrying': { type: 'boolean' },
    },
  });
  const [retriedState, second] = (['dead', 'retrying'] as const).filter((name) => values[`all-${name}`]);
  if (second !== undefined) throw new UsageError('use either --all-dead or --all-retrying');
  if (retriedState !== undefined && positionals.join() !== 'retry')
    throw new UsageError(`--all-${retriedState} is an option of retry, without an ID`);
  const actions = {
    list: null,
    retry: retriedState === undefined ? ID_DESCRIPTION : null,
    drop: ID_DESCRIPTION,
  };
  const { action, argument: id } = readAction(positionals, actions);
  if (values.state !== undefined && action !== 'list') throw new UsageError('--state is an option of list');
  const state = JOB_STATES.find((name) => name === values.state);
  if (values.state !== undefined && state === undefined)
    throw new UsageError(`unknown state ${values.state}: use one of ${JOB_STATES.join(', ')}`);
  if (!/^\d*$/.test(id)) throw new UsageError(`${action} needs ${ID_DESCRIPTION}`);
  return async (_env, open) => {
    const { url, isExclusive } = await open();
    await migrate(url, console.error);
    await withClient(url, async (client) => {
      // This command started the embedded database, so no service runs. The holder of a locked job has died.
      if (isExclusive === true) await unlockStaleJobs(client, { lockedForS: 0 });
      if (action === 'list') await list(client, state);
      else if (retriedState !== undefined)
        console.log(`${retriedState} jobs queued again: ${await retryAllJobs(client, retriedState)}`);
      else await change(client, action, id);
    });
  };
}

/** Job as shown to operators, without the payload, which may contain personal data. */
interface ListedJob {
  readonly id: string;
  readonly state: JobState;
  readonly task: string;
  /** Part of the key after the task, for example `17:verify_email`: the user's id and the purpose. */
  readonly subject: string;
  /** Email address of the account that a mail job concerns; empty for other jobs. */
  readonly customer: string;
  readonly tries: number;
  /** Interval as PostgreSQL prints it, such as `2 days 03:04:05`. */
  readonly age: string;
  readonly lastError: string;
}

async function list(database: Queryable, filter: JobState | undefined): Promise<void> {
  // Reads a private table, because only private tables contain payloads. The payload of a mail contains the id of an account or
  // of an order, or an address that somebody typed.
  const { rows: jobs } = await database.query<ListedJob>(
    `SELECT id, state, task_identifier AS task, attempts AS tries, coalesce(last_error, '') AS "lastError",
       coalesce(substring(key FROM length(task_identifier) + 2), '') AS subject,
       date_trunc('second', now() - created_at)::text AS age,
       coalesce((
         SELECT min(email) -- one, even if the payload matched two accounts
         FROM graphile_worker._private_jobs AS mail
           LEFT JOIN orders ON orders.order_id = (payload ->> 'orderId')::uuid
           JOIN users ON users.id = coalesce((payload ->> 'userId')::int, orders.user_id)
             OR lower(email) = lower(payload ->> 'email')
         WHERE mail.id = jobs.id AND jobs.flags ?| ARRAY['mail', 'code-mail']), '') AS customer
     FROM ${JOBS} WHERE $1::text IS NULL OR state = $1 ORDER BY id`,
    [filter ?? null],
  );
  if (jobs.length === 0) {
    console.log(`there is no ${filter === undefined ? '' : `${filter} `}job`);
    return;
  }
  console.log(HEADER);
  for (const { id, state, task, subject, customer, tries, age, lastError } of jobs) {
    const columns = [id, state, task, toCell(subject), customer, tries, age, toCell(lastError)];
    console.log(columns.join('\t'));
  }
}

/** Masks email addresses, which may be of strangers. */
function toCell(text: string): string {
  return toMaskedLine(text, 300);
}

async function change(database: Queryable, action: 'retry' | 'drop', id: string): Promise<void> {
  const result = await changeJob(database, action, id);
  if (result === 'unknown') throw new Error(`job ${id}: there is no such job`);
  if (result === 'running') throw new Error(`job ${id}: the job is running; wait until it has ended`);
  console.log(`job ${id}: ${action === 'retry' ? 'queued again' : 'removed'}`);
}

runCommand(HELP, parse);
