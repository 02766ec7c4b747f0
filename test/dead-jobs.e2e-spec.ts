import { type BuiltProcess, spawnBuilt } from './support/process.js';
import { jobRows } from './support/jobs.js';
import { startService, type TestService } from './support/service.js';
import { SmtpStandIn } from './support/smtp-stand-in.js';
import { until } from './support/wait.js';

const UNKNOWN_ID = '999999999';
const BEYOND_BIGINT = '9'.repeat(40);

describe('jobs that cannot be done, and what an operator does with them', () => {
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

  /** `npm run jobs -- ...`, beside the running service. */
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

  /** The job of a mail to somebody whom the mail server does not know. @returns its id, once it is dead */
  async function deadMail(email: string): Promise<string> {
    smtp.rejectRecipient(email);
    await register(email);
    const [dead] = await until('the job is dead', async () => {
      const found = await deadJobs();
      return found.length > 0 && found;
    });
    return dead?.id ?? '';
  }

  it('a mail to a recipient whom the mail server does not know is dead at once, with one line in the log', async () => {
    const id = await deadMail('nobody@example.com');
    expect(smtp.attempts).toBe(1);
    const lines = service.log.filter(({ msg }) => String(msg).startsWith(`dead job ${id} (send-otp): `));
    expect(lines).toMatchObject([{ level: 'error' }]);
    expect(JSON.stringify(service.log)).not.toContain('nobody@example.com');
    // Others are served meanwhile.
    await register('somebody@example.com');
    await smtp.waitForMail(({ to }) => to.includes('somebody@example.com'));
    expect(smtp.attempts).toBe(2);
  });

  it('list shows a dead job with task, tries, age and last error, and no address or code', async () => {
    const id = await deadMail('nobody@example.com');
    const { code, output } = await jobs('list', '--state', 'dead');
    expect(code).toBe(0);
    expect(output.split('\t')).toEqual([
      id,
      'dead',
      'send-otp',
      expect.stringMatching(/^\d+:verify_email$/),
      '1 tries',
      expect.stringMatching(/^\d+ s$/),
      "Can't send mail - all recipients were rejected: 550 No such mailbox\n",
    ]);
    // A reset asked for by e-mail: its key holds the address.
    await service.database.pool.query(
      `SELECT graphile_worker.add_job('forgot-password', '{"email":"somebody@example.com"}'::json,
         job_key := 'forgot-password:somebody@example.com', run_at := now() + interval '1 hour')`,
    );
    const waiting = await jobs('list', '--state', 'waiting');
    expect(waiting.output).toContain('\ts***@example.com\t');
    expect(waiting.output).not.toContain('somebody');
    expect(await jobs('list', '--state', 'due')).toEqual({ code: 0, output: 'there is no due job\n' });
  });

  it('retry runs a dead job again, by its id or with all the others', async () => {
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
    expect(await jobs('retry', '--all-dead')).toEqual({ code: 0, output: '1 dead jobs run again\n' });
    await smtp.waitForMail(({ to }) => to.includes('later@example.com'));

    // One that is never given up, such as the removal of an image; no service here takes it.
    const { pool } = service.database;
    await pool.query(`SELECT graphile_worker.add_job('kept', job_key := 'kept:1', max_attempts := 32767)`);
    const [kept] = await jobRows(pool, 'kept');
    expect(await jobs('retry', kept?.id ?? '')).toMatchObject({ code: 0 });
    expect(await jobRows(pool, 'kept')).toMatchObject([{ attempts: 0, max_attempts: 32_767 }]);
  });

  it('drop removes a dead job, but none that is running; an unknown job is exit code 1', async () => {
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
    expect(refused).toMatchObject({ code: 1, output: expect.stringContaining('it is running') as string });
    expect(unknown).toMatchObject({ code: 1, output: expect.stringContaining('no such job') as string });
    expect(huge).toMatchObject({ code: 1, output: expect.stringContaining('no such job') as string });
    const left = await jobRows(service.database.pool, 'send-otp');
    expect(left.map((job) => job.id)).toEqual([running]);
  });

  it('a wrong command line says what is wrong before the help, with exit code 2', async () => {
    const wrong: [string[], string][] = [
      [['list', '--state', 'foo'], 'unknown state foo: it is one of waiting, due, running, retrying, dead'],
      [['drop', 'x1'], 'drop needs the number of a job, as list shows it'],
      [['retry', '1', '--all-dead'], 'retry: 1 is too much'],
      [['sleep'], 'say list, retry or drop'],
    ];
    const results = await Promise.all(wrong.map(([args]) => jobs(...args)));
    results.forEach(({ code, output }, index) => {
      expect(code).toBe(2);
      expect(output.split('\n').slice(0, 3)).toEqual([
        wrong[index]?.[1],
        '',
        expect.stringMatching(/^The work/),
      ]);
    });
  });
});
