import {
  registerAccount,
  PASSWORD,
  requestResetCode,
  SUBJECTS,
  type TestAccount,
} from './support/accounts.js';
import { withRejectedWrites } from './support/databases.js';
import { ATTACKER, HOME, sendFrom } from './support/guesses.js';
import { addJob } from './support/jobs.js';
import { useService } from './support/service.js';
import { inParallel } from './support/wait.js';

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;

const service = await useService({ settings: { TRUSTED_PROXIES: '1' } });
let ayu: TestAccount;

beforeEach(async () => {
  await service.clearCounts();
  ayu = await registerAccount(service);
  await service.waitForCode(ayu.email);
});

const requestOtp = (clientAddress = HOME) =>
  sendFrom(clientAddress, ayu.client.clone().post('/api/otp')).expect(204);
const requestReset = (email: string, clientAddress = HOME) =>
  sendFrom(clientAddress, requestResetCode(service, email)).expect(204);

async function readSubjects(email: string): Promise<string[]> {
  await service.waitUntilMailed();
  return (await service.readMails(email)).map(({ subject }) => subject);
}

describe('one mailbox', () => {
  it('gets one code for each purpose per minute, even from 50 parallel calls', async () => {
    await service.ageCounts(MINUTE_S); // Makes the mail of the registration a minute old.
    await inParallel(50, (n) =>
      n % 2 === 0 ? requestOtp() : requestReset(n % 4 === 1 ? ayu.email : ayu.email.toUpperCase()),
    );
    expect((await readSubjects(ayu.email)).toSorted()).toEqual([
      SUBJECTS.reset,
      SUBJECTS.verification, // the code of the registration
      SUBJECTS.verification,
    ]);
  });

  it('gets one code a minute if its account changes the email to other spellings of the same address', async () => {
    const mailbox = 'spellings@example.com';
    const upperCase = 'SPELLINGS@example.com';
    // Mails name the domain in lower case, so there are two spellings.
    const readAll = async () => [...(await readSubjects(upperCase)), ...(await readSubjects(mailbox))];
    const spellings = [upperCase, mailbox, 'spellings@EXAMPLE.com'];
    for (let round = 0; round < 3; round += 1)
      for (const email of spellings)
        await ayu.client.patch('/api/users').send({ email, password: PASSWORD }).expect(200);
    expect(await readAll()).toEqual([SUBJECTS.newEmail]);
    await ayu.client.post('/api/otp').expect(204);
    expect(await readAll()).toHaveLength(1);
    await service.ageCounts(MINUTE_S);
    await ayu.client.post('/api/otp').expect(204);
    expect(await readAll()).toHaveLength(2);
  });

  it('gets a code whose job is retried, even if its account changes the email to another spelling meanwhile', async () => {
    const mailbox = 'waiting@example.com';
    const trigger =
      'TRIGGER rejection BEFORE UPDATE ON one_time_passwords FOR EACH ROW WHEN (NEW.digest IS NOT NULL)';
    await withRejectedWrites(service.database, trigger, async () => {
      for (const email of [mailbox.toUpperCase(), mailbox])
        await ayu.client.patch('/api/users').send({ email, password: PASSWORD }).expect(200);
    });
    const otp = await service.waitForCode(mailbox, SUBJECTS.newEmail);
    await ayu.client.post('/api/otp/verify').send({ otp }).expect(200);
  });

  it('gets one code for several requests that version 1.2 enqueued without counting them', async () => {
    for (const key of ['first', 'second']) {
      const payload = { email: ayu.email, requester: HOME };
      await addJob(service.database.pool, 'forgot-password', { key, payload });
    }
    expect(await readSubjects(ayu.email)).toEqual([SUBJECTS.verification, SUBJECTS.reset]);
  });

  it('gets one reset code a minute, even if a request spells the i of its address as İ', async () => {
    // PostgreSQL finds the account by both spellings.
    await service.client().register({ email: 'ilham@example.com' }).expect(201);
    for (const email of ['İlham@example.com', 'ilham@example.com']) await requestReset(email);
    const subjects = await readSubjects('ilham@example.com');
    expect(subjects.toSorted()).toEqual([SUBJECTS.reset, SUBJECTS.verification]);
  });

  it('gets a code for a reset although others request codes for its +tag addresses, which have no account, at the same time', async () => {
    const [localPart, domain] = ayu.email.split('@');
    const requestForTag = (tag: string) => requestReset(`${localPart}+${tag}@${domain}`, ATTACKER);
    await Promise.all([requestForTag('a'), requestForTag('b'), requestReset(ayu.email), requestForTag('c')]);
    expect(await readSubjects(ayu.email)).toEqual([SUBJECTS.verification, SUBJECTS.reset]);
  });

  it('gets one code a minute for all its +tag addresses together', async () => {
    const tagged = (tag: string): string => `tagged+${tag}@example.com`;
    const client = service.client();
    for (const tag of ['a', 'b']) await client.register({ email: tagged(tag) }).expect(201);
    const subjects = [await readSubjects(tagged('a')), await readSubjects(tagged('b'))];
    expect(subjects).toEqual([[SUBJECTS.verification], []]);
  });

  it('gets at most ten codes an hour, regardless of the client address of the request', async () => {
    await service.setCounts('mailsToMailbox', 9);
    await service.ageCounts(MINUTE_S);
    await Promise.all([requestOtp(), requestReset(ayu.email, ATTACKER)]);
    // The code of the registration and one of the two requested codes.
    expect(await readSubjects(ayu.email)).toHaveLength(2);
    await service.ageCounts(MINUTE_S);
    await Promise.all([requestOtp(ATTACKER), requestReset(ayu.email)]);
    expect(await readSubjects(ayu.email)).toHaveLength(2);
    await service.ageCounts(HOUR_S);
    await requestOtp();
    expect(await readSubjects(ayu.email)).toHaveLength(3);
  });
});

describe('one client address', () => {
  const register = (email: string) => sendFrom(ATTACKER, service.client().register({ email }));

  it('causes at most 100 mails with codes an hour, and can still register', async () => {
    await register('first@example.com').expect(201);
    await service.setCounts('mailsOfAddress', 95); // Overwrites the count of the call above.
    const emails = Array.from({ length: 10 }, (_, index) => `burst-${index}@example.com`);
    await Promise.all(emails.map((email) => register(email).expect(201)));
    const mails = await Promise.all(emails.map(readSubjects));
    expect(mails.flat()).toHaveLength(5);
    // Codes for resets have a limit of their own.
    await requestReset(ayu.email, ATTACKER);
    expect(await readSubjects(ayu.email)).toHaveLength(2);
    await service.ageCounts(HOUR_S);
    await register('later@example.com').expect(201);
    expect(await readSubjects('later@example.com')).toEqual([SUBJECTS.verification]);
  });

  it('causes at most 100 codes for resets an hour, beyond which a request leaves neither a row nor a job', async () => {
    await requestReset('nobody@example.com', ATTACKER);
    await service.setCounts('resetMailsOfAddress', 98);
    await inParallel(50, (n) => requestReset(`nobody-${n}@example.com`, ATTACKER));
    const rows = await service.countRows();
    await requestReset(ayu.email, ATTACKER);
    expect(await service.countRows()).toBe(rows);
    expect(await readSubjects(ayu.email)).toHaveLength(1);
    expect(await service.readCounts()).toMatchObject({ resetMailsOfAddress: 100 });
  });

  it('is not charged for a call that sends no mail, and neither is the mailbox', async () => {
    await register('charged@example.com').expect(201);
    const { mailsToMailbox, mailsOfAddress } = await service.readCounts();
    await register('charged@example.com').expect(409);
    // Ayu's registration in `beforeEach` sent a code to her mailbox less than a minute ago, so no call sends another one.
    for (let call = 0; call < 3; call += 1) await requestOtp(ATTACKER);
    expect(await service.readCounts()).toMatchObject({ mailsToMailbox, mailsOfAddress });
  });
});
