import { randomUUID } from 'node:crypto';
import { runBuilt } from './support/process.js';
import { readJobs } from './support/jobs.js';
import { startService } from './support/service.js';
import { useSmtpStandIn } from './support/smtp-stand-in.js';
import { startBeforeEach } from './support/start-before-tests.js';
import { until } from './support/wait.js';

const UNKNOWN_ID = '999999999';
const BEYOND_BIGINT = '9'.repeat(40);

const smtp = useSmtpStandIn(startBeforeEach);
const service = startBeforeEach(
  () => startService({ settings: { SMTP_URL: smtp.url } }),
  (started) => started.stop(),
);

/** Runs `npm run jobs -- ...` beside the running service. */
function runCommand(...args: string[]): ReturnType<typeof runBuilt> {
  const settings = { DATABASE_URL: service.database.url, DATA_DIR: service.dataDir };
  return runBuilt('src/commands/jobs.js', settings, args);
}

const register = (email: string) => service.client().register({ email }).expect(201);
const readOtpJobs = () => readJobs(service.database.pool, 'send-otp');

/** Registers a customer whose mail the mail server rejects. @returns the id of the job once it is dead */
async function createDeadJob(email: string): Promise<string> {
  smtp.rejectedRecipients.add(email);
  await register(email);
  const { id } = await until('the job is dead', async () =>
    (await readOtpJobs()).find((job) => job.attempts >= job.max_attempts),
  );
  return id;
}

it('the job of a mail to an unknown recipient is dead after one try, and one line of the log reports the dead job without the address', async () => {
  const id = await createDeadJob('nobody@example.com');
  expect(smtp.attempts).toBe(1);
  const lines = service.log.filter(({ msg }) => String(msg).startsWith(`dead job ${id} (send-otp): `));
  expect(lines).toMatchObject([{ level: 'error' }]);
  expect(JSON.stringify(service.log)).not.toContain('nobody@example.com');
  // Mails to other recipients are still sent.
  await register('somebody@example.com');
  await smtp.waitForMail(({ to }) => to.includes('somebody@example.com'));
  expect(smtp.attempts).toBe(2);
});

it('npm run jobs -- list shows a header and a dead job with its customer, tries, age and last error, or says that no job has the state', async () => {
  const id = await createDeadJob('nobody@example.com');
  const { code, output } = await runCommand('list', '--state', 'dead');
  expect(code).toBe(0);
  const [header, line, ...rest] = output.split('\n');
  expect(header).toBe('id\tstate\ttask\tsubject\tcustomer\ttries\tage\tlast error');
  expect(line?.split('\t')).toEqual([
    id,
    'dead',
    'send-otp',
    expect.stringMatching(/^\d+:verify_email$/),
    'nobody@example.com',
    '1',
    expect.stringMatching(/^\d+ s$/),
    "Can't send mail - all recipients were rejected: 550 No such mailbox",
  ]);
  expect(rest).toEqual(['']);
  expect(await runCommand('list', '--state', 'due')).toEqual({ code: 0, output: 'there is no due job\n' });
});

it('npm run jobs -- list shows a customer only for a mail to an account, and shortens addresses in the subject column', async () => {
  await register('ayu@example.com');
  const { query } = service.database;
  const orderId = randomUUID();
  await query(
    `INSERT INTO orders (order_id, user_id, gross_amount) SELECT $1, id, 1000 FROM users WHERE email = 'ayu@example.com'`,
    [orderId],
  );
  await query(
    `SELECT graphile_worker.add_job(task, payload, job_key := task || ':' || key, flags := flags,
       run_at := now() + interval '1 hour')
     FROM (VALUES
       ('send-order-mail', json_build_object('orderId', $1::text, 'mail', 'order-ready'), 'order', ARRAY['mail']),
       ('forgot-password', '{"email":"AYU@example.com"}', 'AYU@example.com', ARRAY['mail']),
       ('forgot-password', '{"email":"somebody@example.com"}', 'somebody@example.com', ARRAY['mail']),
       ('expire', json_build_object('orderId', $1::text), 'order', ARRAY['payments'])
     ) AS jobs (task, payload, key, flags)`,
    [orderId],
  );
  const { output } = await runCommand('list', '--state', 'waiting');
  const rows = output.trimEnd().split('\n').slice(1);
  // Columns: task, subject and customer.
  expect(rows.map((row) => row.split('\t').slice(2, 5))).toEqual([
    ['send-order-mail', 'order', 'ayu@example.com'],
    ['forgot-password', 'A***@example.com', 'ayu@example.com'],
    ['forgot-password', 's***@example.com', ''],
    ['expire', 'order', ''],
  ]);
});

it('npm run jobs -- retry runs one dead job or all of them, and does not limit the tries of a job with unlimited tries', async () => {
  const id = await createDeadJob('late@example.com');
  smtp.rejectedRecipients.clear();
  expect(await runCommand('retry', id)).toEqual({ code: 0, output: `job ${id}: queued again\n` });
  await smtp.waitForMail(({ to }) => to.includes('late@example.com'));
  await until('the job is removed', async () => (await readOtpJobs()).length === 0);

  await createDeadJob('later@example.com');
  smtp.rejectedRecipients.clear();
  const allDead = await runCommand('retry', '--all-dead');
  expect(allDead).toEqual({ code: 0, output: 'dead jobs queued again: 1\n' });
  await smtp.waitForMail(({ to }) => to.includes('later@example.com'));

  // A job with unlimited tries, such as the removal of an image. No process in this test runs it.
  const { pool } = service.database;
  await pool.query(`SELECT graphile_worker.add_job('kept', job_key := 'kept:1', max_attempts := 32767)`);
  const [kept] = await readJobs(pool, 'kept');
  expect(await runCommand('retry', kept?.id ?? '')).toMatchObject({ code: 0 });
  expect(await readJobs(pool, 'kept')).toMatchObject([{ attempts: 0, max_attempts: 32_767 }]);
});

it('npm run jobs -- drop removes a dead job but no running one, and retry exits with code 1 for an unknown job', async () => {
  const id = await createDeadJob('nobody@example.com');
  const rows = await service.database.query<{ id: string }>(
    `SELECT id FROM graphile_worker.add_job('send-otp', '{}'::json, job_key := 'send-otp:0:held', run_at := now() + interval '1 hour')`,
  );
  const running = rows[0]?.id ?? '';
  await service.database.query(
    "UPDATE graphile_worker._private_jobs SET locked_at = now(), locked_by = 'a worker' WHERE id = $1",
    [running],
  );
  expect(await runCommand('drop', id)).toEqual({ code: 0, output: `job ${id}: removed\n` });
  const refusal = `job ${running}: the job is running; wait until it has ended\n`;
  expect(await runCommand('drop', running)).toEqual({ code: 1, output: refusal });
  for (const unknown of [UNKNOWN_ID, BEYOND_BIGINT]) {
    const output = `job ${unknown}: there is no such job\n`;
    expect(await runCommand('retry', unknown)).toEqual({ code: 1, output });
  }
  expect(await readOtpJobs()).toMatchObject([{ id: running }]);
});

it.each([
  ['list --state foo', 'unknown state foo: use one of waiting, due, running, retrying, dead'],
  ['drop x1', 'drop needs the number of a job, as list shows it'],
  ['retry 1 --all-dead', '--all-dead is an option of retry, without an ID'],
  ['drop 1 2', 'drop does not accept 2'],
  ['sleep', 'missing or unknown action: use list, retry or drop'],
])('npm run jobs -- %s is rejected with a reason, the help and exit code 2', async (line, reason) => {
  const { code, output } = await runCommand(...line.split(' '));
  expect(code).toBe(2);
  expect(output).toMatch(`${reason}\n\nBackground jobs`);
});
