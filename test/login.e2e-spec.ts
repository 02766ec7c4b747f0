import { requestLogin } from './support/accounts.js';
import { parseCookies } from './support/client.js';
import { sendDuringTransaction } from './support/databases.js';
import { comparableHeaders, expectFailure, MESSAGES } from './support/failure.js';
import { findMedian, measureCpuMs } from './support/measure.js';
import { userIdOf } from './support/orders.js';
import { ADMIN, useService } from './support/service.js';
import { decodeClaims } from './support/tokens.js';

const AYU = { email: 'Ayu@example.com', fullname: 'Ayu Lestari', password: 'kue lapis legit' } as const;

const service = await useService();
const registered = service.client();
await registered.register(AYU).expect(201);
const ayuId = userIdOf(registered);

it('a login returns the user as registered, regardless of case and spaces in its email and of unknown fields (contract 4.2)', async () => {
  const fields = { ...AYU, email: ' aYU@EXAMPLE.com ', role: 'ADMIN', id: 1, fullname: 'Eve' };
  const response = await service.client().post('/api/login').send(fields).expect(200);
  const user = { id: ayuId, fullname: AYU.fullname, email: AYU.email };
  const data = { users: user, user: { ...user, role: 'USER' } };
  expect(response.body).toEqual({ status: 'success', data });
});

describe('a rejected login', () => {
  it('gets the same response for an unknown email as for a wrong password', async () => {
    const unknown = await requestLogin(service, 'nobody@example.com', AYU.password);
    const wrong = await requestLogin(service, AYU.email, 'Kue lapis legit');
    for (const response of [unknown, wrong]) {
      expectFailure(response, 400, MESSAGES.wrongCredentials);
      expect(parseCookies(response)).toEqual([]);
    }
    expect(comparableHeaders(unknown)).toEqual(comparableHeaders(wrong));
  });

  it('does not end the session of the owner', async () => {
    const owner = service.client();
    await owner.post('/api/login').send(AYU).expect(200);
    await requestLogin(service, AYU.email, 'wrong').expect(400);
    await owner.get('/api/refresh').expect(200);
  });

  it('costs as much for an unknown email as for a wrong password, so that the time reveals no account', async () => {
    // The CPU time of the service and of this test. Unlike elapsed time, CPU time does not depend on other processes.
    const costs = { 'nobody@example.com': [] as number[], [AYU.email]: [] as number[] };
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
    sendDuringTransaction(service.database, `UPDATE users SET ${change} WHERE id = ${ayuId}`, () =>
      requestLogin(service, AYU.email, AYU.password),
    );

  it('issues tokens with the new role', async () => {
    const response = await loginWhileChanging("role = 'ADMIN'");
    await service.database.query("UPDATE users SET role = 'USER' WHERE id = $1", [ayuId]);
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
