import type { Response, Test } from 'supertest';
import { newAccount, newEmail, PASSWORD, signIn, SUBJECTS, type TestAccount } from './support/accounts.js';
import { type Client, parseCookies } from './support/client.js';
import { inTransaction, sendDuringTransaction, waitForLock } from './support/databases.js';
import { expectFailure, MESSAGES } from './support/failure.js';
import { useService } from './support/service.js';
import { decodeClaims } from './support/tokens.js';

const service = useService();

function patch(client: Client, body: object): Test {
  return client.patch('/api/users').send(body);
}

/** Asserts that the name and the e-mail are those of `newAccount`, and that the session has not ended. */
async function expectUnchanged({ client, id, email }: TestAccount): Promise<void> {
  expect(await service.readUser(id)).toMatchObject({ fullname: 'Ayu Lestari', email });
  await client.get('/api/refresh').expect(200);
}

/** Asserts that the response and both cookies contain this user. */
function expectUser(response: Response, user: { readonly id: number }): void {
  expect(response.body).toEqual({ status: 'success', data: { user } });
  expect(response.status).toBe(200);
  const cookies = parseCookies(response);
  expect(cookies.map(({ name }) => name)).toEqual(['accessToken', 'refreshToken']);
  // The claim `tokenId` contains the id of the user.
  const { id: tokenId, ...claims } = user;
  for (const { value } of cookies) expect(decodeClaims(value)).toMatchObject({ tokenId, ...claims });
}

it('a new name needs no password, is stored and returned with new cookies, keeps the e-mail verified, and causes no mail', async () => {
  const { client, id, email } = await newAccount(service);
  const otp = await service.waitForCode(email);
  await client.post('/api/otp/verify').send({ otp }).expect(200);
  const user = { id, fullname: 'Ayu Wulandari', email, role: 'USER' };
  expectUser(await patch(client, { fullname: '  Ayu Wulandari ' }), user);
  const stored = await service.readUser(id);
  expect(stored.fullname).toBe('Ayu Wulandari');
  expect(stored.email_verified_at).not.toBeNull();
  for (const path of ['/api/users', '/api/refresh'])
    expect((await client.get(path).expect(200)).text).toContain('Ayu Wulandari');
  await service.waitUntilMailed();
  expect(await service.readMails(email)).toHaveLength(1); // the mail of the registration
});

describe('a new e-mail', () => {
  it('is accepted with the current password, is stored and returned with its capital letters, and replaces the old e-mail at login', async () => {
    const { client, id, email } = await newAccount(service);
    const next = newEmail();
    const user = { id, fullname: 'Ayu W.', email: next, role: 'USER' };
    expectUser(await patch(client, { fullname: 'Ayu W.', email: ` ${next} `, password: PASSWORD }), user);
    expect(await service.readUser(id)).toMatchObject({ fullname: 'Ayu W.', email: next });
    await client.get('/api/refresh').expect(200);
    const formerLogin = service.client().post('/api/login').send({ email, password: PASSWORD });
    expectFailure(await formerLogin, 400, MESSAGES.credentials);
    await signIn(service, next.toLowerCase());
  });

  it('is unverified and gets a code at once, in a mail about the new address', async () => {
    const { client, id, email } = await newAccount(service);
    const firstOtp = await service.waitForCode(email);
    await client.post('/api/otp/verify').send({ otp: firstOtp }).expect(200);
    const next = newEmail();
    // The limit of one code a minute is per e-mail address, so the account gets a second code at once.
    await patch(client, { email: next, password: PASSWORD }).expect(200);
    expect((await service.readUser(id)).email_verified_at).toBeNull();
    const { to, text, html } = await service.waitForMail(next, SUBJECTS.newEmail);
    const otp = await service.waitForCode(next, SUBJECTS.newEmail);
    expect(to).toEqual([next]);
    for (const part of [text, html])
      for (const phrase of ['new e-mail address of your account', otp, '10 minutes'])
        expect(part).toContain(phrase);
    const response = await client.post('/api/otp/verify').send({ otp }).expect(200);
    expect(response.body).toMatchObject({ data: { user: { email: next, emailVerified: true } } });
    expect(await service.readMails(email)).toHaveLength(1);
  });

  it('ends the codes of the old address, for verification and for reset', async () => {
    const { client, email } = await newAccount(service);
    const verification = await service.waitForCode(email);
    await service.client().post('/api/password/forgot').send({ email }).expect(204);
    const otp = await service.waitForCode(email, SUBJECTS.reset);
    const next = newEmail();
    await patch(client, { email: next, password: PASSWORD }).expect(200);
    const fresh = await service.waitForCode(next, SUBJECTS.newEmail);
    const body = { email: next, otp, password: 'stolen', passwordConfirmation: 'stolen' };
    expectFailure(await service.client().post('/api/password/reset').send(body), 400, MESSAGES.otp);
    // Two codes may be equal by chance.
    if (verification !== fresh)
      expectFailure(await client.post('/api/otp/verify').send({ otp: verification }), 400, MESSAGES.otp);
  });

  it('gets the code of a job that runs while the address changes; the old address gets no second code', async () => {
    const { id, email } = await newAccount(service);
    await service.waitForCode(email);
    const next = newEmail();
    await inTransaction(service.database, async (holder) => {
      await holder.query('UPDATE users SET email = $2 WHERE id = $1', [id, next]);
      const job = JSON.stringify({ userId: id, purpose: 'verify_email' });
      await service.database.query("SELECT graphile_worker.add_job('send-otp', $1::json)", [job]);
      await waitForLock(service.database);
      // The service also invalidates the codes of the old address in the transaction that changes the e-mail.
      await holder.query('UPDATE one_time_passwords SET digest = NULL WHERE user_id = $1', [id]);
    });
    await service.waitForCode(next);
    await service.waitUntilMailed();
    expect(await service.readMails(email)).toHaveLength(1);
  });
});

describe('a rejected change of the profile', () => {
  it('gets 400 for a new e-mail with a wrong password, even if the e-mail is taken', async () => {
    const [account, other] = [await newAccount(service), await newAccount(service)];
    for (const email of [newEmail(), other.email]) {
      const response = await patch(account.client, { fullname: 'Eve', email, password: 'x' });
      expectFailure(response, 400, MESSAGES.credentials);
      expect(parseCookies(response)).toEqual([]);
    }
    await expectUnchanged(account);
  });

  it('gets 409 for the e-mail of another account in upper case; that account gets no further mail, and the earlier code of the caller stays valid', async () => {
    const [account, other] = [await newAccount(service), await newAccount(service)];
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

  it('gets 400 with a message for each field, and for an e-mail without password', async () => {
    const account = await newAccount(service);
    const withoutPassword = await patch(account.client, { email: 'x@example.com' });
    expectFailure(withoutPassword, 400, MESSAGES.validation, { password: 'password is required' });
    const invalid = await patch(account.client, { fullname: null, email: 'ayu', password: '' });
    expectFailure(invalid, 400, MESSAGES.validation, {
      fullname: 'fullname is required',
      email: 'your email format is invalid',
      password: 'password is required',
    });
    await expectUnchanged(account);
  });

  it('gets 400 if the stored password is replaced while the given one is checked', async () => {
    const account = await newAccount(service);
    // Otherwise the job of the first mail, instead of the request, could wait for the lock.
    await service.waitUntilMailed();
    const response = await sendDuringTransaction(
      service.database,
      `UPDATE users SET password_hash = 'replaced' WHERE id = ${account.id}`,
      () => patch(account.client, { email: newEmail(), password: PASSWORD }),
    );
    expectFailure(response, 400, MESSAGES.credentials);
    await expectUnchanged(account);
  });
});

it.each([
  ['unknown fields only', () => ({ id: 1, role: 'ADMIN', emailVerified: true, password_hash: 'x' })],
  ['the right password alone', () => ({ password: PASSWORD })],
  ['the present values', (email: string) => ({ fullname: 'Ayu Lestari', email, password: PASSWORD })],
])(
  'PATCH /api/users with %s changes nothing: it returns the user without cookies, and the session continues',
  async (_what, bodyFor) => {
    const { client, id, email } = await newAccount(service);
    const before = await service.readUser(id);
    const response = await patch(client, bodyFor(email)).expect(200);
    const user = { id, fullname: 'Ayu Lestari', email, role: 'USER' };
    expect(response.body).toEqual({ status: 'success', data: { user } });
    expect(parseCookies(response)).toEqual([]);
    expect(await service.readUser(id)).toEqual(before);
    await client.get('/api/refresh').expect(200);
  },
);

it('parallel changes of the profile leave one session, whose refresh returns the stored name and e-mail', async () => {
  const { client, id } = await newAccount(service);
  const email = newEmail();
  const copies = Array.from({ length: 8 }, () => client.clone());
  const responses = await Promise.all(
    copies.map((copy, index) =>
      patch(copy, {
        password: PASSWORD,
        ...(index === 0 ? { email } : { fullname: `Ayu ${index}` }),
      }),
    ),
  );
  // A change can fail because an earlier change ended its session.
  const statuses = responses.map(({ status }) => status).filter((status) => status !== 401);
  expect(new Set(statuses)).toEqual(new Set([200]));
  const refreshed = await Promise.all(copies.map((copy) => copy.get('/api/refresh')));
  const [alive, ...others] = refreshed.filter(({ status }) => status === 200);
  expect(others).toEqual([]);
  const { fullname, email: stored } = await service.readUser(id);
  expect(alive?.body).toMatchObject({ data: { user: { fullname, email: stored } } });
});
