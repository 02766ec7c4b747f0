import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expectFailure, MESSAGES } from './support/failure.js';
import { runAllJobs, waitForFailedJob, withBrokenQueue } from './support/jobs.js';
import { findCode, listCodes, parseMail } from './support/mail.js';
import { measureRunning } from './support/measure.js';
import { useService } from './support/service.js';
import { SmtpStandIn } from './support/smtp-stand-in.js';
import { until } from './support/wait.js';

const smtp = await SmtpStandIn.start();
const mailing = await useService({
  settings: { SMTP_URL: smtp.url, MAIL_FROM: 'Toko Roti <no-reply@toko.example>' },
});
const service = await useService();

it('a mail with a code is sent over SMTP by a retry after an outage of the mail server, from a stored job without the code', async () => {
  const email = 'patient@example.com';
  // Anyone may have registered the address, so the mail must not contain the name.
  const registration = { email, fullname: 'You won, see evil.example' };
  await smtp.down();
  const { runningMs } = await measureRunning(() => mailing.client().register(registration).expect(201));
  expect(runningMs).toBeLessThan(5_000);

  const failed = await waitForFailedJob(mailing.database.pool, 'send-otp');
  // Neither the payload nor the error of the job contains the code.
  expect(failed.payload).toEqual({
    userId: expect.any(Number) as number,
    purpose: 'verify_email',
    isNewEmail: false,
  });
  expect(listCodes(failed.last_error ?? '')).toEqual([]);
  expect(smtp.mails).toEqual([]);

  await smtp.up();
  await runAllJobs(mailing.database.pool, 'send-otp');
  expect(smtp.mails).toMatchObject([{ from: 'no-reply@toko.example', to: [email], recipients: [email] }]);
  expect(smtp.mails[0]?.raw.toString('latin1')).not.toContain('You won');
});

describe('the mail of a registration without SMTP_URL', () => {
  it("is written to DATA_DIR/outbox as a file that only the service's user can read, and its code not to the log", async () => {
    await service.client().register({ email: 'outbox@example.com' }).expect(201);
    const line = await until('a log line', () =>
      service.log.find(({ msg }) => typeof msg === 'string' && msg.includes('.eml')),
    );
    const file = /\/\S+\.eml/.exec(String(line.msg))?.[0] ?? '';
    expect(file.startsWith(join(service.dataDir, 'outbox'))).toBe(true);
    // Other users of the machine must not read codes.
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const mail = await parseMail(await readFile(file));
    expect(mail.to).toEqual(['outbox@example.com']);
    const code = findCode(mail.text);
    for (const text of [mail.text, mail.html.replaceAll(/<[^>]*>/g, ' ')])
      expect(listCodes(text)).toEqual([code]);
    expect(await service.readOutbox()).toHaveLength(1);
    expect(JSON.stringify(service.log)).not.toMatch(new RegExp(`\\b${code}\\b`));
  });

  it('is queued in the transaction of the registration, which fails if the mail cannot be queued', async () => {
    const register = () => service.client().register({ email: 'whole@example.com' });
    expectFailure(await withBrokenQueue(service.database, register), 500, MESSAGES.unexpected);
    const rows = await service.database.query("SELECT FROM users WHERE email = 'whole@example.com'");
    expect(rows).toEqual([]);
  });
});
