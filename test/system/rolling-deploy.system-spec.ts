import { rm } from 'node:fs/promises';
import { newEmail, PASSWORD } from '../support/accounts.js';
import { Client } from '../support/client.js';
import { createDatabase, type TestDatabase } from '../support/databases.js';
import { expectFailure, MESSAGES } from '../support/failure.js';
import { placeOrder, readOrder } from '../support/orders.js';
import { createProduct } from '../support/products.js';
import { ServiceInstance } from '../support/service-process.js';
import { buildVersion11, hasVersion11 } from '../support/version-1.1.js';

const NEW_PASSWORD = 'nastar dan kastengel';

/** Returns a client of another process with the cookies of a client. */
function copySession(client: Client, url: string): Client {
  return new Client(url)
    .setCookie('accessToken', client.cookie('accessToken'))
    .setCookie('refreshToken', client.cookie('refreshToken'), '/api/refresh');
}

async function register(url: string, email = newEmail()): Promise<Client> {
  const client = new Client(url);
  await client.register({ email, password: PASSWORD }).expect(201);
  return client;
}

async function login(url: string, email: string): Promise<Client> {
  const client = new Client(url);
  await client.post('/api/login').send({ email, password: PASSWORD }).expect(200);
  return client;
}

const describeWithVersion11 = (await hasVersion11()) ? describe : describe.skip;

describeWithVersion11('version 1.1', () => {
  let buildFolder: string;

  beforeAll(async () => {
    buildFolder = await buildVersion11();
  });

  afterAll(() => rm(buildFolder, { recursive: true, force: true }));

  describe('beside this version on one database', () => {
    let database: TestDatabase;
    const instances: Record<'1.1' | '1.2', ServiceInstance> = {} as never;

    beforeAll(async () => {
      database = await createDatabase();
      instances['1.1'] = await ServiceInstance.create(undefined, buildFolder);
      instances['1.2'] = await ServiceInstance.create();
      for (const instance of Object.values(instances)) await instance.start({ DATABASE_URL: database.url });
    });

    afterAll(async () => {
      for (const instance of Object.values(instances)) await instance.clear();
      await database.drop();
    });

    async function expectRefresh(client: Client): Promise<void> {
      for (const { url } of Object.values(instances))
        await copySession(client, url).get('/api/refresh').expect(200);
    }

    async function expectNoRefresh(client: Client): Promise<void> {
      for (const { url } of Object.values(instances))
        expectFailure(await copySession(client, url).get('/api/refresh'), 401, MESSAGES.refreshToken);
    }

    /** Requests a code at 1.2, because 1.1 accepts an access token until it expires. */
    const requestCode = (client: Client) => copySession(client, instances['1.2'].url).post('/api/otp');

    async function expectEnded(client: Client): Promise<void> {
      await expectNoRefresh(client);
      expectFailure(await requestCode(client), 401, MESSAGES.missingAccessToken);
    }

    describe.each([
      ['1.1', '1.2'],
      ['1.2', '1.1'],
    ] as const)('a session that %s opened', (opener, other) => {
      let here: string;
      let there: string;

      beforeAll(() => {
        here = instances[opener].url;
        there = instances[other].url;
      });

      it(`can be refreshed and used for changes at ${other}`, async () => {
        const email = newEmail();
        for (const open of [register, login]) {
          const client = await open(here, email);
          const elsewhere = copySession(client, there);
          await elsewhere.get('/api/refresh').expect(200);
          await elsewhere.post('/api/otp').expect(204);
          await elsewhere.patch('/api/users').send({}).expect(200);
          await copySession(client, here).get('/api/refresh').expect(200);
        }
      });

      it(`ends everywhere with a logout at ${other}`, async () => {
        const client = await register(here);
        await copySession(client, there).post('/api/logout').expect(204);
        await expectEnded(client);
      });

      it(`ends everywhere with a change of the password at ${other}`, async () => {
        const email = newEmail();
        const first = await register(here, email);
        const second = await login(here, email);
        const changing = copySession(second, there);
        const passwords = { password: NEW_PASSWORD, passwordConfirmation: NEW_PASSWORD };
        const change = { currentPassword: PASSWORD, ...passwords };
        await changing.put('/api/users/password').send(change).expect(204);
        await expectEnded(first);
        await expectEnded(second);
        await expectRefresh(changing);
        await requestCode(changing).expect(204);
      });

      it(`keeps only its access token after a login at ${other}`, async () => {
        const email = newEmail();
        const earlier = await register(here, email);
        const later = await login(there, email);
        await expectNoRefresh(earlier);
        await requestCode(earlier).expect(204);
        await expectRefresh(later);
      });
    });

    it('leaves one refresh token after 20 parallel logins at both versions', async () => {
      const email = newEmail();
      await register(instances['1.1'].url, email);
      const logins = Array.from({ length: 20 }, (_, index) =>
        login(instances[index % 2 === 0 ? '1.1' : '1.2'].url, email),
      );
      const clients = await Promise.all(logins);
      for (const { url } of Object.values(instances)) {
        const refreshed = await Promise.all(
          clients.map((client) => copySession(client, url).get('/api/refresh')),
        );
        expect(refreshed.filter(({ status }) => status === 200)).toHaveLength(1);
      }
    });
  });

  it('hands over a data directory whose customers stay signed in', async () => {
    const before = await ServiceInstance.create(undefined, buildFolder);
    const after = await ServiceInstance.create(before.dataDir);
    try {
      await before.start();
      const { id } = await createProduct(await before.admin());
      const customer = await register(before.url);
      const placed = await placeOrder(customer, [{ product_id: id, quantity: 1 }]);
      await before.stop();

      await after.start();
      const upgraded = copySession(customer, after.url);
      await placeOrder(upgraded, [{ product_id: id, quantity: 1 }]);
      await upgraded.get('/api/refresh').expect(200);
      expect((await readOrder(upgraded, placed.order_id)).status).toBe('pending');
    } finally {
      await after.clear();
      await before.clear();
    }
  });
});
