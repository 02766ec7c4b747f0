import { rm } from 'node:fs/promises';
import { newAccount, PASSWORD, signIn } from '../support/accounts.js';
import type { Client } from '../support/client.js';
import { createDatabase } from '../support/databases.js';
import { expectFailure, MESSAGES } from '../support/failure.js';
import { placeOrder, readOrder } from '../support/orders.js';
import { createProduct } from '../support/products.js';
import { ServiceInstance, useInstance } from '../support/service-process.js';
import { startBeforeTests } from '../support/start-before-tests.js';
import { buildVersion11, hasVersion11 } from '../support/version-1.1.js';

const NEW_PASSWORD = 'nastar dan kastengel';

const describeWithVersion11 = (await hasVersion11()) ? describe : describe.skip;

describeWithVersion11('version 1.1', () => {
  let buildFolder: string;

  beforeAll(async () => {
    buildFolder = await buildVersion11();
  });

  afterAll(() => rm(buildFolder, { recursive: true, force: true }));

  describe('and this version on one database', () => {
    const database = startBeforeTests(createDatabase, (created) => created.drop());
    const instances = { '1.1': useInstance(), '1.2': useInstance() };

    beforeAll(async () => {
      await instances['1.1'].start({ DATABASE_URL: database.url }, buildFolder);
      await instances['1.2'].start({ DATABASE_URL: database.url });
    });

    async function expectRefresh(client: Client): Promise<void> {
      for (const { url } of Object.values(instances)) await client.clone(url).get('/api/refresh').expect(200);
    }

    async function expectNoRefresh(client: Client): Promise<void> {
      for (const { url } of Object.values(instances))
        expectFailure(await client.clone(url).get('/api/refresh'), 401, MESSAGES.refreshToken);
    }

    /** Requests a code at 1.2, which rejects an ended session. 1.1 would still accept the session's access token. */
    const requestWithSession = (client: Client) => client.clone(instances['1.2'].url).post('/api/otp');

    async function expectEnded(client: Client): Promise<void> {
      await expectNoRefresh(client);
      expectFailure(await requestWithSession(client), 401, MESSAGES.missingAccessToken);
    }

    describe.each([
      ['1.1', '1.2'],
      ['1.2', '1.1'],
    ] as const)('a session that %s opened', (here, there) => {
      async function expectUsableInBoth(client: Client): Promise<void> {
        const elsewhere = client.clone(instances[there].url);
        await elsewhere.get('/api/refresh').expect(200);
        await elsewhere.post('/api/otp').expect(204);
        await elsewhere.patch('/api/users').send({}).expect(200);
        await client.clone().get('/api/refresh').expect(200);
      }

      it(`can be refreshed and used for changes at ${there}, and then refreshed at ${here}`, async () => {
        const { client, email } = await newAccount(instances[here]);
        await expectUsableInBoth(client);
        await expectUsableInBoth(await signIn(instances[here], email));
      });

      it(`ends everywhere with a logout at ${there}`, async () => {
        const { client } = await newAccount(instances[here]);
        await client.clone(instances[there].url).post('/api/logout').expect(204);
        await expectEnded(client);
      });

      it(`ends everywhere with a change of the password at ${there}`, async () => {
        const { client: first, email } = await newAccount(instances[here]);
        const second = await signIn(instances[here], email);
        const changing = second.clone(instances[there].url);
        // The change starts a new session, whose cookies only `changing` gets.
        const passwords = { password: NEW_PASSWORD, passwordConfirmation: NEW_PASSWORD };
        const change = { currentPassword: PASSWORD, ...passwords };
        await changing.put('/api/users/password').send(change).expect(204);
        await expectEnded(first);
        await expectEnded(second);
        await expectRefresh(changing);
        await requestWithSession(changing).expect(204);
      });

      it(`loses its refresh token, but not its access token, when the customer signs in at ${there} (with the default SESSIONS_PER_ACCOUNT=1)`, async () => {
        const { client: earlier, email } = await newAccount(instances[here]);
        const later = await signIn(instances[there], email);
        await expectNoRefresh(earlier);
        await requestWithSession(earlier).expect(204);
        await expectRefresh(later);
      });
    });

    it('leave one valid refresh token after 20 parallel logins of a customer (with the default SESSIONS_PER_ACCOUNT=1)', async () => {
      const { email } = await newAccount(instances['1.1']);
      const logins = Array.from({ length: 20 }, (_, index) =>
        signIn(instances[index % 2 === 0 ? '1.1' : '1.2'], email),
      );
      const clients = await Promise.all(logins);
      for (const { url } of Object.values(instances)) {
        const refreshed = await Promise.all(clients.map((client) => client.clone(url).get('/api/refresh')));
        expect(refreshed.filter(({ status }) => status === 200)).toHaveLength(1);
      }
    });
  });

  it('leaves a data directory with which customers stay signed in and keep their orders in this version', async () => {
    const before = await ServiceInstance.create();
    const after = await ServiceInstance.create(before.dataDir);
    try {
      await before.start({}, buildFolder);
      const { id } = await createProduct(await before.admin());
      const { client: customer } = await newAccount(before);
      const placed = await placeOrder(customer, [{ product_id: id, quantity: 1 }]);
      await before.stop();

      await after.start();
      const upgraded = customer.clone(after.url);
      await placeOrder(upgraded, [{ product_id: id, quantity: 1 }]);
      await upgraded.get('/api/refresh').expect(200);
      expect((await readOrder(upgraded, placed.order_id)).status).toBe('pending');
    } finally {
      await after.clear();
      await before.clear();
    }
  });
});
