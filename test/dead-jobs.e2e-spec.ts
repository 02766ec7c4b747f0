import { randomUUID } from 'node:crypto';
import { createEmail } from './support/accounts.js';
import { runBuilt } from './support/process.js';
import { addJob, changeJobs, deleteJobs, readJobs } from './support/jobs.js';
import { useService } from './support/service.js';
import { SmtpStandIn } from './support/smtp-stand-in.js';
import { until } from './support/wait.js';

const smtp = await SmtpStandIn.start();
const service = await useService({ settings: { SMTP_URL: smtp.url } });

afterEach(async () => {
  smtp.rejectedRecipients.clear();
  await deleteJobs(service.database.pool, '%');
});

/** Runs `npm run jobs -- ...` beside the running service. */
function runCommand(...args: string[]): ReturnType<typeof runBuilt> {
  const settings = { DATABASE_URL: service.database.url, DATA_DIR: service.dataDir };
  return runBuilt('src/commands/jobs.js', settings, args);
}

const register = (email: string) => service.client().register({ email }).expect(201);
const readOtpJobs = () => readJobs(service.database.pool, 'send-otp');

/** Registers a customer whose mail the mail server rejects. Returns the address, and the id of the job once it is dead. */
async function createDeadJob() {
  const email = createEmail();
  smtp.rejectedRecipients.add(email);
  await register(email);
  const { id } = await until('the job is dead', async () =>
    (await readOtpJobs()).find((job) => job.attempts >= job.max_attempts && job.locked_by === null),
  );
  return { id, email };
}

it('the job of a mail to an unknown recipient is dead after one try, which one log line without the address reports; other mails are sent', async () => {
  const before = smtp.attempts;
  const { id, email } = await createDeadJob();
  const other = createEmail();
  await register(other);
  await smtp.waitForMail(({ to }) => to.includes(other));
  expect(smtp.attempts).toBe(before + 2);
  // Codes have a kind of their own, so that a flood of codes does not delay receipts. The flag is the kind.
  await until('the job of the sent mail is removed', async () => (await readOtpJobs()).length === 1);
  expect(await readOtpJobs()).toMatchObject([{ id, flags: { 'code-mail': true } }]);
  const lines = service.log.filter(({ msg }) => String(msg).startsWith(`dead job ${id} (send-otp): `));
  expect(lines).toMatchObject([{ level: 'error' }]);
  expect(JSON.stringify(service.log)).not.toContain(email);
});

describe('npm run jobs -- list', () => {
  it('shows a dead job with its customer, tries, age and last error', async () => {
    const { id, email } = await createDeadJob();
    const { code, output } = await runCommand('list', '--state', 'dead');
    expect(code).toBe(0);
    const [header, line, ...rest] = output.split('\n');
    expect(header).toBe('id\tstate\ttask\tsubject\tcustomer\ttries\tage\tlast error');
    expect(line?.split('\t')).toEqual([
      id,
      'dead',
      'send-otp',
      expect.stringMatching(/^\d+:verify_email$/),
      email,
      '1',
      expect.stringMatching(/^00:0\d:\d\d$/),
      "Can't send mail - all recipients were rejected: 550 No such mailbox",
    ]);
    expect(rest).toEqual(['']);
  });

  it('shows no job of another state, and says that no job has the state', async () => {
    await createDeadJob();
    // Not due or running, because repeated jobs of the service have these states for a moment.
    for (const state of ['waiting', 'retrying']) {
      const output = `there is no ${state} job\n`;
      expect(await runCommand('list', '--state', state)).toEqual({ code: 0, output });
    }
  });

  it('shows a customer only for a mail to an account, and masks email addresses in the subject column', async () => {
    await register('ayu@example.com');
    const { pool } = service.database;
    const orderId = randomUUID();
    await pool.query(
      `INSERT INTO orders (order_id, user_id, gross_amount) SELECT $1, id, 1000 FROM users WHERE email = 'ayu@example.com'`,
      [orderId],
    );
    const addLater = (task: string, subject: string, payload: object, flag: string) =>
      addJob(pool, task, { key: `${task}:${subject}`, payload, flags: [flag], dueInS: 3_600 });
    await addLater('send-order-mail', 'order', { orderId, mail: 'order-ready' }, 'mail');
    for (const email of ['AYU@example.com', 'somebody@example.com'])
      await addLater('forgot-password', email, { email }, 'mail');
    await addLater('expire', 'order', { orderId }, 'payments');
    // A key without a subject, as of repeated jobs.
    await addJob(pool, 'sweep', { dueInS: 3_600 });
    const { output } = await runCommand('list', '--state', 'waiting');
    const rows = output.trimEnd().split('\n').slice(1);
    // Columns: task, subject and customer.
    expect(rows.map((row) => row.split('\t').slice(2, 5))).toEqual([
      ['send-order-mail', 'order', 'ayu@example.com'],
      ['forgot-password', 'A***@example.com', 'ayu@example.com'],
      ['forgot-password', 's***@example.com', ''],
      ['expire', 'order', ''],
      ['sweep', '', ''],
    ]);
  });
});

describe('npm run jobs -- retry', () => {
  it.each<[string, (id: string) => { argument: string; output: string }]>([
    ['a dead job', (id) => ({ argument: id, output: `job ${id}: queued again\n` })],
    ['all dead jobs', () => ({ argument: '--all-dead', output: 'dead jobs queued again: 1\n' })],
  ])('runs %s', async (_, describeCall) => {
    const { id, email } = await createDeadJob();
    smtp.rejectedRecipients.clear();
    const { argument, output } = describeCall(id);
    expect(await runCommand('retry', argument)).toEqual({ code: 0, output });
    await smtp.waitForMail(({ to }) => to.includes(email));
    await until('the job is removed', async () => (await readOtpJobs()).length === 0);
  });

  it('does not limit the tries of a job with unlimited tries', async () => {
    // Such as the removal of an image. No process in this test runs it.
    const { pool } = service.database;
    const kept = await addJob(pool, 'kept', { maxAttempts: 32_767 });
    expect(await runCommand('retry', kept)).toMatchObject({ code: 0 });
    expect(await readJobs(pool, 'kept')).toMatchObject([{ attempts: 0, max_attempts: 32_767 }]);
  });

  it('--all-retrying makes the jobs due that wait for their next try', async () => {
    const { pool } = service.database;
    await addJob(pool, 'kept', { dueInS: 3_600 });
    await changeJobs(pool, 'kept', { attempts: 3 });
    const output = 'retrying jobs queued again: 1\n';
    expect(await runCommand('retry', '--all-retrying')).toEqual({ code: 0, output });
    const [job] = await readJobs(pool, 'kept');
    expect(job?.attempts).toBe(0);
    expect(job?.due_in).toBeLessThanOrEqual(0);
  });

  it.each(['999999999', '9'.repeat(40)])('exits with code 1 for an unknown job: %s', async (id) => {
    expect(await runCommand('retry', id)).toEqual({ code: 1, output: `job ${id}: there is no such job\n` });
  });
});

it('npm run jobs -- drop removes a dead job, but no running one', async () => {
  const { id } = await createDeadJob();
  const { pool } = service.database;
  const running = await addJob(pool, 'send-otp', { key: 'held', dueInS: 3_600 });
  await changeJobs(pool, 'held', { lockedForS: 0, lockedBy: 'a worker' });
  expect(await runCommand('drop', id)).toEqual({ code: 0, output: `job ${id}: removed\n` });
  const output = `job ${running}: the job is running; wait until it has ended\n`;
  expect(await runCommand('drop', running)).toEqual({ code: 1, output });
  expect(await readOtpJobs()).toMatchObject([{ id: running }]);
});
