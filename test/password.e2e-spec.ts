import {
  requestPasswordChange,
  NEW_PASSWORD,
  registerAccount,
  requestLogin,
  requestResetCode,
  requestPasswordReset,
  signIn,
  SUBJECTS,
  type TestAccount,
  listWrongCodes,
} from './support/accounts.js';
import { parseCookies } from './support/client.js';
import { withRejectedWrites } from './support/databases.js';
import { expectFailure, expectInvalid, MESSAGES } from './support/failure.js';
import { measureMs } from './support/measure.js';
import { useService } from './support/service.js';
import { inParallel, sortedStatusesOf } from './support/wait.js';

const CONFIRMATION_MISMATCH = { passwordConfirmation: 'password confirmation does not match' };

const service = await useService();

async function expectNewPassword(email: string): Promise<void> {
  await requestLogin(service, email).expect(400);
  await requestLogin(service, email, NEW_PASSWORD).expect(200);
}

/** Registers an account, requests a password reset, and waits for the mail with the code. */
async function newAccountWithResetCode(): Promise<TestAccount & { readonly otp: string }> {
  const account = await registerAccount(service);
  await service.waitForCode(account.email);
  await requestResetCode(service, account.email).expect(204);
  return { ...account, otp: await service.waitForCode(account.email, SUBJECTS.reset) };
}

describe('PUT /api/users/password', () => {
  it('replaces the password, sets new cookies and ends all other sessions', async () => {
    const { client: earlier, email } = await registerAccount(service);
    const client = await signIn(service, email);
    const response = await requestPasswordChange(client).expect(204);
    expectFailure(await earlier.post('/api/otp'), 401, MESSAGES.missingAccessToken);
    expect(response.text).toBe('');
    expect(parseCookies(response).map(({ name }) => name)).toEqual(['accessToken', 'refreshToken']);
    await client.get('/api/refresh').expect(200);
    await expectNewPassword(email);
  });

  it('returns 400 for a wrong current password, changes nothing and ends no session', async () => {
    const { client, id } = await registerAccount(service);
    const before = await service.readUser(id);
    const response = await requestPasswordChange(client, { currentPassword: 'wrong' });
    expectFailure(response, 400, MESSAGES.wrongCredentials);
    expect(parseCookies(response)).toEqual([]);
    expect(await service.readUser(id)).toEqual(before);
    await client.get('/api/refresh').expect(200);
  });

  it('returns 400 with a message for each invalid field', async () => {
    const { client } = await registerAccount(service);
    expectInvalid(await client.put('/api/users/password').send({}), {
      currentPassword: 'current password is required',
      password: 'password is required',
      passwordConfirmation: 'password confirmation is required',
    });
    const mismatch = await requestPasswordChange(client, { passwordConfirmation: 'other' });
    expectInvalid(mismatch, CONFIRMATION_MISMATCH);
  });

  it('invalidates the reset code, but not the verification code, if the password is changed', async () => {
    const account = await newAccountWithResetCode();
    const verification = await service.waitForCode(account.email);
    await requestPasswordChange(account.client, { currentPassword: 'wrong' }).expect(400);
    expect((await service.readOtp(account.id, 'reset_password'))?.digest).toBeInstanceOf(Buffer);
    await requestPasswordChange(account.client).expect(204);
    expectFailure(await requestPasswordReset(service, account), 400, MESSAGES.invalidOtp);
    await account.client.post('/api/otp/verify').send({ otp: verification }).expect(200);
  });

  it('succeeds for one of 6 parallel calls with the same current password', async () => {
    const { client } = await registerAccount(service);
    const responses = await inParallel(6, () => requestPasswordChange(client.clone()));
    // The other calls get 400 if the password was replaced during their check, 401 if the session ended before it.
    const accepted = responses.filter(({ status }) => status !== 400 && status !== 401);
    expect(sortedStatusesOf(accepted)).toEqual([204]);
  });
});

describe('POST /api/password/forgot', () => {
  it('takes at least 150 ms, also for an unknown address and if a limit rejects the mail', async () => {
    const { email } = await registerAccount(service);
    for (const address of [email, email, 'nobody@example.com', 'nobody@example.com'])
      // A timer may fire up to 1 ms early.
      expect(await measureMs(() => requestResetCode(service, address).expect(204))).toBeGreaterThan(149);
  });

  it('mails a code to an address with an account, in any letter case, but not to an unknown address', async () => {
    const { client, email } = await registerAccount(service);
    await service.waitForCode(email);
    await requestResetCode(service, ` ${email.toUpperCase()} `);
    await requestResetCode(service, 'stranger@example.com');
    expectInvalid(await requestResetCode(service, 'no address'), { email: 'your email format is invalid' });
    await service.waitForCode(email, SUBJECTS.reset);
    await service.waitUntilMailed();
    const recipients = (await service.readMails(email)).map(({ to }) => to);
    expect(recipients).toEqual([[email], [email]]); // One mail of the registration, one of the reset.
    expect((await service.readOutbox()).some((source) => source.includes('stranger'))).toBe(false);
    // The requests have not ended the session.
    await client.get('/api/refresh').expect(200);
  });
});

describe('POST /api/password/reset', () => {
  it('replaces the password once for each code, sets no cookies, and mails a notice to a verified address', async () => {
    const account = await newAccountWithResetCode();
    await service.verifyEmail(account.email);
    const response = await requestPasswordReset(service, account);
    expect([response.status, response.text, parseCookies(response)]).toEqual([204, '', []]);
    expectFailure(await requestPasswordReset(service, account, 'again'), 400, MESSAGES.invalidOtp);
    await expectNewPassword(account.email);
    await service.waitForMail(account.email, 'Your password was changed');
  });

  it('rejects an unknown account and an account without a code like a wrong code, after at least 150 ms', async () => {
    const account = await newAccountWithResetCode();
    const stranger = await registerAccount(service);
    const [wrong = ''] = listWrongCodes(account.otp, 1);
    for (const attempt of [
      { email: 'nobody@example.com', otp: account.otp },
      { email: stranger.email, otp: account.otp },
      { email: account.email, otp: wrong },
    ]) {
      const ms = await measureMs(async () => {
        expectFailure(await requestPasswordReset(service, attempt), 400, MESSAGES.invalidOtp);
      });
      expect(ms).toBeGreaterThan(149); // A timer may fire up to 1 ms early.
    }
  });

  it('reports all invalid fields together without counting a try of the code', async () => {
    const account = await newAccountWithResetCode();
    const counts = await service.readCounts();
    const response = await service.client().post('/api/password/reset').send({});
    expectInvalid(response, {
      email: 'email is required',
      otp: 'otp is required',
      password: 'password is required',
      passwordConfirmation: 'password confirmation is required',
    });
    const mismatch = await requestPasswordReset(service, account, NEW_PASSWORD, 'other');
    expectInvalid(mismatch, CONFIRMATION_MISMATCH);
    expect(await service.readCounts()).toEqual(counts);
  });

  it('changes nothing, and keeps the code, if the transaction that sets the password fails', async () => {
    const account = await newAccountWithResetCode();
    const trigger =
      'TRIGGER rejection BEFORE UPDATE OF digest ON one_time_passwords FOR EACH ROW WHEN (NEW.digest IS NULL)';
    const reset = () => requestPasswordReset(service, account);
    const response = await withRejectedWrites(service.database, trigger, reset);
    expectFailure(response, 500, MESSAGES.unexpected);
    await account.client.get('/api/refresh').expect(200);
    await reset().expect(204);
  });
});
