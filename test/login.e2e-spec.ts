import { registerAccount, PASSWORD, requestLogin, signIn } from './support/accounts.js';
import { parseCookies } from './support/client.js';
import { sendDuringTransaction } from './support/databases.js';
import { comparableHeaders, expectFailure, MESSAGES } from './support/failure.js';
import { findMedian, measureCpuMs } from './support/measure.js';
import { ADMIN, useService } from './support/service.js';
import { decodeClaims } from './support/tokens.js';

const service = await useService();
const ayu = await registerAccount(service);

it('a login returns the user as registered, regardless of case and spaces in its email and of unknown fields (contract 4.2)', async () => {
  const email = ` ${ayu.email.toUpperCase()} `;
  const fields = { email, password: PASSWORD, role: 'ADMIN', id: 1, fullname: 'Eve' };
  const response = await service.client().post('/api/login').send(fields).expect(200);
  const user = { id: ayu.id, fullname: 'Ayu Lestari', email: ayu.email };
  const data = { users: user, user: { ...user, role: 'USER' } };
  expect(response.body).toEqual({ status: 'success', data });
});

describe('a rejected login', () => {
  it('gets the same response for an unknown email as for a wrong password', async () => {
    const unknown = await requestLogin(service, 'nobody@example.com');
    const wrong = await requestLogin(service, ayu.email, 'Kue lapis legit');
    for (const response of [unknown, wrong]) {
      expectFailure(response, 400, MESSAGES.wrongCredentials);
      expect(parseCookies(response)).toEqual([]);
    }
    expect(comparableHeaders(unknown)).toEqual(comparableHeaders(wrong));
  });

  it('does not end the session of the owner', async () => {
    const owner = await signIn(service, ayu.email);
    await requestLogin(service, ayu.email, 'wrong').expect(400);
    await owner.get('/api/refresh').expect(200);
  });

  it('costs as much for an unknown email as for a wrong password, so that the time reveals no account', async () => {
    // The CPU time of the service and of this test. Unlike elapsed time, CPU time does not depend on other processes.
    const costs = { 'nobody@example.com': [] as number[], [ayu.email]: [] as number[] };
    for (let round = 0; round < 15; round += 1)
      for (const [email, measured] of Object.entries(costs))
        measured.push(await measureCpuMs(() => requestLogin(service, email, 'wrong').expect(400)));
    const [unknown = 0, wrong = 0] = Object.values(costs).map(findMedian);
    // Without a hash, the ratio would be about 0.2.
    expect(unknown / wrong).toBeGreaterThan(0.5);
    expect(unknown / wrong).toBeLessThan(2);
  });
});

describe('a login while the account changes', () => {
  /** Logs in, with a change that commits between the check of the password and the start of the session. */
  const loginWhileChanging = (change: string) =>
    sendDuringTransaction(service.database, `UPDATE users SET ${change} WHERE id = ${ayu.id}`, () =>
      requestLogin(service, ayu.email),
    );

  it('issues tokens with the new role', async () => {
    const response = await loginWhileChanging("role = 'ADMIN'");
    await service.database.query("UPDATE users SET role = 'USER' WHERE id = $1", [ayu.id]);
    expect(response.status).toBe(200);
    expect(response.body).toMatchObject({ data: { user: { role: 'ADMIN' } } });
    expect(parseCookies(response).map(({ value }) => decodeClaims(value).role)).toEqual(['ADMIN', 'ADMIN']);
  });

  it('is rejected if the password changes before the session starts', async () => {
    const selectHashOfAdmin = `SELECT password_hash FROM users WHERE email = '${ADMIN.email}'`;
    const response = await loginWhileChanging(`password_hash = (${selectHashOfAdmin})`);
    expectFailure(response, 400, MESSAGES.wrongCredentials);
    expect(parseCookies(response)).toEqual([]);
  });
});
