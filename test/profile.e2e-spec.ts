import type { Response, Test } from 'supertest';
import {
  requestPasswordChange,
  registerAccount,
  createEmail,
  PASSWORD,
  requestLogin,
  requestResetCode,
  requestPasswordReset,
  signIn,
  SUBJECTS,
  type TestAccount,
} from './support/accounts.js';
import { type Client, parseCookies } from './support/client.js';
import { beginTransaction, sendDuringTransaction, waitForLock } from './support/databases.js';
import { expectFailure, expectInvalid, MESSAGES } from './support/failure.js';
import { addJob } from './support/jobs.js';
import { findCode, parseMail } from './support/mail.js';
import { useService } from './support/service.js';
import { decodeClaims } from './support/tokens.js';

const service = await useService();

function patch(client: Client, body: object): Test {
  return client.patch('/api/users').send(body);
}

/** Asserts that the name and the email are those of `registerAccount`, and that the session has not ended. */
async function expectUnchanged({ client, id, email }: TestAccount): Promise<void> {
  expect(await service.readUser(id)).toMatchObject({ fullname: 'Ayu Lestari', email });
  await client.get('/api/refresh').expect(200);
}

/** Asserts that the response contains this user and sets exactly the named cookies, with tokens that contain the user too. */
function expectUser(
  response: Response,
  user: { readonly id: number },
  cookieNames = ['accessToken', 'refreshToken'],
): void {
  expect(response.body).toEqual({ status: 'success', data: { user } });
  expect(response.status).toBe(200);
  const cookies = parseCookies(response);
  expect(cookies.map(({ name }) => name)).toEqual(cookieNames);
  // The claim `tokenId` contains the id of the user.
  const { id: tokenId, ...claims } = user;
  for (const { value } of cookies) expect(decodeClaims(value)).toMatchObject({ tokenId, ...claims });
}

describe('a new name', () => {
  it('needs no password, and is returned with a new access cookie', async () => {
    const { client, id, email } = await registerAccount(service);
    const user = { id, fullname: 'Ayu Wulandari', email, role: 'USER' };
    expectUser(await patch(client, { fullname: '  Ayu Wulandari ' }), user, ['accessToken']);
    expect(await service.readUser(id)).toMatchObject({ fullname: 'Ayu Wulandari' });
  });

  it('keeps all sessions and the verification, and causes no mail', async () => {
    const { client, id, email } = await registerAccount(service);
    await signIn(service, email); // drops the refresh token of the first session
    await service.waitForCode(email);
    await service.verifyEmail(email);
    const readSessions = async () => (await service.readSessions(id)).map((row) => ({ ...row, seconds: 0 }));
    const sessions = await readSessions();
    await patch(client, { fullname: 'Ayu Wulandari' }).expect(200);
    expect(await readSessions()).toEqual(sessions);
    expect((await service.readUser(id)).email_verified_at).toBeInstanceOf(Date);
    await service.waitUntilMailed();
    expect(await service.readMails(email)).toHaveLength(1); // the mail of the registration
  });
});

describe('the language', () => {
  it('can be changed without the password, and sets no cookies', async () => {
    const { client, id, email } = await registerAccount(service);
    const user = { id, fullname: 'Ayu Lestari', email, role: 'USER' };
    for (const language of ['id', 'en']) {
      expectUser(await patch(client, { language }), user, []);
      expect(await service.readUser(id)).toMatchObject({ language });
    }
  });

  it.each([null, '', 'de', 'EN', 'id-ID', 7, ['id'], {}])('%j is rejected with 400', async (language) => {
    const account = await registerAccount(service);
    const response = await patch(account.client, { fullname: 'Eve', language });
    expectInvalid(response, { language: 'language should be id or en' });
    await expectUnchanged(account);
  });
});

describe('a new email', () => {
  it('is stored as it was typed, with a new name and language, replaces the old email, and ends the sessions of other logins', async () => {
    const { client: other, id, email } = await registerAccount(service);
    const client = await signIn(service, email);
    const next = createEmail();
    const change = { fullname: 'Ayu W.', language: 'id', email: ` ${next} `, password: PASSWORD };
    const user = { id, fullname: 'Ayu W.', email: next, role: 'USER' };
    expectUser(await patch(client, change), user);
    expect(await service.readUser(id)).toMatchObject({ fullname: 'Ayu W.', language: 'id', email: next });
    await client.get('/api/refresh').expect(200);
    expectFailure(await other.post('/api/otp'), 401, MESSAGES.missingAccessToken);
    expectFailure(await requestLogin(service, email), 400, MESSAGES.wrongCredentials);
    await signIn(service, next.toLowerCase());
  });

  it('is unverified and gets a code at once, in a mail about the new address', async () => {
    const { client, id, email } = await registerAccount(service);
    await service.waitForCode(email);
    await service.verifyEmail(email);
    const next = createEmail();
    // The limit of one code a minute is per email address, so the account gets a second code at once.
    await patch(client, { email: next, password: PASSWORD }).expect(200);
    expect((await service.readUser(id)).email_verified_at).toBeNull();
    const otp = await service.waitForCode(next, SUBJECTS.newEmail);
    const response = await client.post('/api/otp/verify').send({ otp }).expect(200);
    expect(response.body).toMatchObject({ data: { user: { email: next, emailVerified: true } } });
  });

  it('invalidates the codes of the old address, for verification and for reset', async () => {
    const { client, email } = await registerAccount(service);
    const verification = await service.waitForCode(email);
    await requestResetCode(service, email).expect(204);
    const otp = await service.waitForCode(email, SUBJECTS.reset);
    const next = createEmail();
    await patch(client, { email: next, password: PASSWORD }).expect(200);
    const fresh = await service.waitForCode(next, SUBJECTS.newEmail);
    expectFailure(await requestPasswordReset(service, { email: next, otp }), 400, MESSAGES.invalidOtp);
    // Two codes may be equal by chance.
    if (verification !== fresh)
      expectFailure(
        await client.post('/api/otp/verify').send({ otp: verification }),
        400,
        MESSAGES.invalidOtp,
      );
  });

  it('receives the code of a job that runs during the change; the old address receives none', async () => {
    const { id, email } = await registerAccount(service);
    await service.waitForCode(email);
    const next = createEmail();
    const change = `UPDATE users SET email = '${next}' WHERE id = ${id}`;
    const holder = await beginTransaction(service.database, change);
    await addJob(service.database.pool, 'send-otp', { payload: { userId: id, purpose: 'verify_email' } });
    await waitForLock(service.database);
    // The service replaces the row by one without a digest in the same transaction.
    await holder.query(`UPDATE one_time_passwords SET digest = NULL WHERE user_id = ${id}`);
    await holder.commit();
    await service.waitForCode(next);
    await service.waitUntilMailed();
    expect(await service.readMails(email)).toHaveLength(1);
  });

  it.each([
    ['a full-width letter', 'ｖictim@example.com', 'victim@example.com'],
    ['the Kelvin sign, which is a K in another case', '\u212aim@example.com', 'kim@example.com'],
  ])('is not verified by a code that was mailed to an address with %s', async (_what, earlier, later) => {
    const { client } = await registerAccount(service);
    await patch(client, { email: earlier, password: PASSWORD }).expect(200);
    await service.waitUntilMailed();
    // Mail servers may convert such letters, so this mail may reach the mailbox of the next address.
    const { subject, text } = await parseMail((await service.readOutbox()).at(-1) ?? '');
    expect(subject).toBe(SUBJECTS.newEmail); // and not the code of the registration, which is invalid anyway
    await patch(client, { email: later, password: PASSWORD }).expect(200);
    const otp = findCode(text);
    expectFailure(await client.post('/api/otp/verify').send({ otp }), 400, MESSAGES.invalidOtp);
  });
});

it('a change of password or email mails one notice to the earlier address if it was verified', async () => {
  const { client, email } = await registerAccount(service);
  const change = { password: PASSWORD };
  await requestPasswordChange(client, change).expect(204); // No notice: the address is not verified.
  await service.verifyEmail(email);
  await requestPasswordChange(client, change).expect(204);
  await service.waitForMail(email, 'Your password was changed');
  await patch(client, { email: createEmail(), password: PASSWORD }).expect(200);
  await service.waitForMail(email, 'Your email address was changed');
  const [, ...notices] = (await service.readMails(email)).map(({ subject }) => subject);
  expect(notices).toEqual(['Your password was changed', 'Your email address was changed']);
});

describe('a rejected change of the profile', () => {
  it('gets 400 for a new email with a wrong password, even if the email is taken', async () => {
    const [account, other] = [await registerAccount(service), await registerAccount(service)];
    for (const email of [createEmail(), other.email]) {
      const response = await patch(account.client, { fullname: 'Eve', email, password: 'x' });
      expectFailure(response, 400, MESSAGES.wrongCredentials);
      expect(parseCookies(response)).toEqual([]);
    }
    await expectUnchanged(account);
  });

  it("gets 409 for the email of another account; it causes no mail and keeps the user's earlier code valid", async () => {
    const [account, other] = [await registerAccount(service), await registerAccount(service)];
    const otp = await service.waitForCode(account.email);
    const email = other.email.toUpperCase();
    const response = await patch(account.client, { fullname: 'Eve', email, password: PASSWORD });
    expectFailure(response, 409, MESSAGES.emailTaken);
    expect(parseCookies(response)).toEqual([]);
    await expectUnchanged(account);
    await service.waitUntilMailed();
    expect(await service.readMails(other.email)).toHaveLength(1);
    await account.client.post('/api/otp/verify').send({ otp }).expect(200);
  });

  it('gets 400 with a message for each field, and for an email without password', async () => {
    const account = await registerAccount(service);
    const withoutPassword = await patch(account.client, { email: 'x@example.com' });
    expectInvalid(withoutPassword, { password: 'password is required' });
    const invalid = await patch(account.client, { fullname: null, email: 'ayu', password: '' });
    expectInvalid(invalid, {
      fullname: 'fullname is required',
      email: 'your email format is invalid',
      password: 'password is required',
    });
    await expectUnchanged(account);
  });

  it('gets 401 if another request changes the password, which ends the session, while the password is being checked', async () => {
    const { client, id, email } = await registerAccount(service);
    // Otherwise the job of the first mail, instead of the request, could wait for the lock.
    await service.waitUntilMailed();
    const response = await sendDuringTransaction(
      service.database,
      `UPDATE users SET password_hash = 'replaced' WHERE id = ${id}; DELETE FROM sessions WHERE user_id = ${id}`,
      () => patch(client, { email: createEmail(), password: PASSWORD }),
    );
    expectFailure(response, 401, MESSAGES.missingAccessToken);
    expect(await service.readUser(id)).toMatchObject({ email });
  });
});

it.each([
  ['unknown fields only', () => ({ id: 1, role: 'ADMIN', emailVerified: true, password_hash: 'x' })],
  ['the right password alone', () => ({ password: PASSWORD })],
  ['the present values', (email: string) => ({ fullname: 'Ayu Lestari', email, password: PASSWORD })],
])(
  'PATCH /api/users with %s changes nothing: it returns the user without cookies, and the session continues',
  async (_what, bodyFor) => {
    const { client, id, email } = await registerAccount(service);
    const before = await service.readUser(id);
    const user = { id, fullname: 'Ayu Lestari', email, role: 'USER' };
    expectUser(await patch(client, bodyFor(email)), user, []);
    expect(await service.readUser(id)).toEqual(before);
    await client.get('/api/refresh').expect(200);
  },
);
