import { randomUUID } from 'node:crypto';
import { type BuiltProcess, spawnBuilt } from './support/process.js';
import { jobRows } from './support/jobs.js';
import { startService, type TestService } from './support/service.js';
import { SmtpStandIn } from './support/smtp-stand-in.js';
import { until } from './support/wait.js';

const UNKNOWN_ID = '999999999';
const BEYOND_BIGINT = '9'.repeat(40);

describe('dead jobs and the command for operators', () => {
  let smtp: SmtpStandIn;
  let service: TestService;
  let commands: BuiltProcess[] = [];

  beforeEach(async () => {
    smtp = await SmtpStandIn.start();
    service = await startService({ settings: { SMTP_URL: smtp.url } });
  });

  afterEach(async () => {
    for (const { exited } of commands) await exited;
    commands = [];
    await service.stop();
    await smtp.close();
  });

  /** Runs `npm run jobs -- ...` beside the running service. */
  async function jobs(...args: string[]): Promise<{ code: number | null; output: string }> {
    const command = spawnBuilt(
      'src/commands/jobs.js',
      { DATABASE_URL: service.database.url, DATA_DIR: service.dataDir },
      args,
    );
    commands.push(command);
    return { code: await command.exited, output: command.output() };
  }

  async function register(email: string): Promise<void> {
    await service.client().register({ email }).expect(201);
  }

  const deadJobs = async () =>
    (await jobRows(service.database.pool, 'send-otp')).filter((job) => job.attempts >= job.max_attempts);

  /** Requests a mail to a recipient that the mail server rejects. @returns the id of the job once it is dead */
  async function deadMail(email: string): Promise<string> {
    smtp.rejectRecipient(email);
    await register(email);
    const [dead] = await until('the job is dead', async () => {
      const found = await deadJobs();
      return found.length > 0 && found;
    });
    return dead?.id ?? '';
  }

  it('the job of a mail to an unknown recipient is dead at once, and the log has one line about it', async () => {
    const id = await deadMail('nobody@example.com');
    expect(smtp.attempts).toBe(1);
    const lines = service.log.filter(({ msg }) => String(msg).startsWith(`dead job ${id} (send-otp): `));
    expect(lines).toMatchObject([{ level: 'error' }]);
    expect(JSON.stringify(service.log)).not.toContain('nobody@example.com');
    // Mails to other recipients are still sent.
    await register('somebody@example.com');
    await smtp.waitForMail(({ to }) => to.includes('somebody@example.com'));
    expect(smtp.attempts).toBe(2);
  });

  it('list shows a header and a dead job with its customer, tries, age and last error, without a one-time code', async () => {
    const id = await deadMail('nobody@example.com');
    const { code, output } = await jobs('list', '--state', 'dead');
    expect(code).toBe(0);
    const [header, line, ...rest] = output.split('\n');
    expect(header?.split('\t')).toEqual([
      'id',
      'state',
      'task',
      'subject',
      'customer',
      'tries',
      'age',
      'last error',
    ]);
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
    expect(await jobs('list', '--state', 'due')).toEqual({ code: 0, output: 'there is no due job\n' });
  });

  it('list shows the customers of order mails and password resets, and shortens addresses without an account', async () => {
    await register('ayu@example.com');
    const { pool } = service.database;
    const orderId = randomUUID();
    await pool.query(
      `INSERT INTO orders (order_id, user_id, gross_amount) SELECT $1, id, 1000 FROM users WHERE email = 'ayu@example.com'`,
      [orderId],
    );
    await pool.query(
      `SELECT graphile_worker.add_job(task, payload, job_key := task || ':' || key, flags := flags,
         run_at := now() + interval '1 hour')
       FROM (VALUES
         ('send-order-mail', json_build_object('orderId', $1::text, 'mail', 'order-ready'), 'order', ARRAY['mail']),
         ('forgot-password', '{"email":"AYU@example.com"}', 'AYU@example.com', NULL),
         ('forgot-password', '{"email":"somebody@example.com"}', 'somebody@example.com', NULL),
         ('expire', json_build_object('orderId', $1::text), 'order', ARRAY['payments'])
       ) AS jobs (task, payload, key, flags)`,
      [orderId],
    );
    const { output } = await jobs('list', '--state', 'waiting');
    const rows = output.trimEnd().split('\n').slice(1);
    expect(rows.map((row) => row.split('\t').slice(2, 5))).toEqual([
      ['send-order-mail', 'order', 'ayu@example.com'],
      ['forgot-password', 'A***@example.com', 'ayu@example.com'],
      ['forgot-password', 's***@example.com', ''],
      ['expire', 'order', ''],
    ]);
  });

  it('retry runs one dead job by its id, or all dead jobs', async () => {
    const id = await deadMail('late@example.com');
    smtp.acceptRecipient('late@example.com');
    expect(await jobs('retry', id)).toEqual({ code: 0, output: `job ${id}: done\n` });
    await smtp.waitForMail(({ to }) => to.includes('late@example.com'));
    await until(
      'the job is gone',
      async () => (await jobRows(service.database.pool, 'send-otp')).length === 0,
    );

    await deadMail('later@example.com');
    smtp.acceptRecipient('later@example.com');
    expect(await jobs('retry', '--all-dead')).toEqual({ code: 0, output: 'dead jobs queued again: 1\n' });
    await smtp.waitForMail(({ to }) => to.includes('later@example.com'));

    // A job with unlimited retries, such as the removal of an image. No process in this test runs it.
    const { pool } = service.database;
    await pool.query(`SELECT graphile_worker.add_job('kept', job_key := 'kept:1', max_attempts := 32767)`);
    const [kept] = await jobRows(pool, 'kept');
    expect(await jobs('retry', kept?.id ?? '')).toMatchObject({ code: 0 });
    expect(await jobRows(pool, 'kept')).toMatchObject([{ attempts: 0, max_attempts: 32_767 }]);
  });

  it('drop removes a dead job but not a running one, and exits with code 1 for an unknown job', async () => {
    const id = await deadMail('nobody@example.com');
    const { rows } = await service.database.pool.query<{ id: string }>(
      `SELECT id FROM graphile_worker.add_job('send-otp', '{}'::json, job_key := 'send-otp:0:held', run_at := now() + interval '1 hour')`,
    );
    const running = rows[0]?.id ?? '';
    await service.database.pool.query(
      "UPDATE graphile_worker._private_jobs SET locked_at = now(), locked_by = 'a worker' WHERE id = $1",
      [running],
    );
    const [dropped, refused, unknown, huge] = await Promise.all([
      jobs('drop', id),
      jobs('drop', running),
      jobs('retry', UNKNOWN_ID),
      jobs('retry', BEYOND_BIGINT),
    ]);
    expect(dropped).toEqual({ code: 0, output: `job ${id}: done\n` });
    expect(refused).toMatchObject({
      code: 1,
      output: expect.stringContaining('the job is running') as string,
    });
    expect(unknown).toMatchObject({ code: 1, output: expect.stringContaining('no such job') as string });
    expect(huge).toMatchObject({ code: 1, output: expect.stringContaining('no such job') as string });
    const left = await jobRows(service.database.pool, 'send-otp');
    expect(left.map((job) => job.id)).toEqual([running]);
  });

  it('an invalid command line prints the mistake and the help, and exits with code 2', async () => {
    const wrong: [string[], string][] = [
      [['list', '--state', 'foo'], 'unknown state foo: use one of waiting, due, running, retrying, dead'],
      [['drop', 'x1'], 'drop needs the number of a job, as list shows it'],
      [['retry', '1', '--all-dead'], 'retry does not accept 1'],
      [['sleep'], 'missing or unknown action: use list, retry or drop'],
    ];
    const results = await Promise.all(wrong.map(([args]) => jobs(...args)));
    results.forEach(({ code, output }, index) => {
      expect(code).toBe(2);
      expect(output.split('\n').slice(0, 3)).toEqual([
        wrong[index]?.[1],
        '',
        expect.stringMatching(/^Background jobs/),
      ]);
    });
  });
});
