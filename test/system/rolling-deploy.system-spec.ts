import { rm } from 'node:fs/promises';
import { PASSWORD } from '../support/accounts.js';
import { Client } from '../support/client.js';
import { createDatabase, type TestDatabase } from '../support/databases.js';
import { expectFailure, MESSAGES } from '../support/failure.js';
import { order, orderOf } from '../support/orders.js';
import { createProduct } from '../support/products.js';
import { ServiceInstance } from '../support/service-process.js';
import { buildVersion11, hasVersion11 } from '../support/version-1.1.js';

const NEW_PASSWORD = 'nastar dan kastengel';
const BUILD_MS = 180_000;

let build: string;
let emails = 0;

function freshEmail(): string {
  emails += 1;
  return `customer-${emails}@example.com`;
}

/** Returns a client of another process with the same cookies. */
function at(url: string, client: Client): Client {
  return new Client(url)
    .setCookie('accessToken', client.cookie('accessToken'))
    .setCookie('refreshToken', client.cookie('refreshToken'), '/api/refresh');
}

async function register(url: string, email = freshEmail()): Promise<Client> {
  const client = new Client(url);
  await client.register({ email, password: PASSWORD }).expect(201);
  return client;
}

async function login(url: string, email: string): Promise<Client> {
  const client = new Client(url);
  await client.post('/api/login').send({ email, password: PASSWORD }).expect(200);
  return client;
}

async function expectNoRefresh(client: Client, ...urls: readonly string[]): Promise<void> {
  for (const url of urls)
    expectFailure(await at(url, client).get('/api/refresh'), 401, MESSAGES.refreshToken);
}

async function expectRefresh(client: Client, ...urls: readonly string[]): Promise<void> {
  for (const url of urls) await at(url, client).get('/api/refresh').expect(200);
}

const describeIfPossible = (await hasVersion11()) ? describe : describe.skip;

describeIfPossible('version 1.1', () => {
  beforeAll(async () => {
    build = await buildVersion11();
  }, BUILD_MS);

  afterAll(() => rm(build, { recursive: true, force: true }));

  describe('beside this version on one database', () => {
    let database: TestDatabase;
    const instances: Record<'1.1' | '1.2', ServiceInstance> = {} as never;

    /** Expects that no token of the client works. 1.1 accepts an access token until it expires. */
    async function expectEnded(client: Client): Promise<void> {
      await expectNoRefresh(client, instances['1.1'].url, instances['1.2'].url);
      expectFailure(
        await at(instances['1.2'].url, client).post('/api/otp'),
        401,
        MESSAGES.missingAccessToken,
      );
    }

    beforeAll(async () => {
      database = await createDatabase();
      instances['1.1'] = await ServiceInstance.create(undefined, build);
      instances['1.2'] = await ServiceInstance.create();
      for (const instance of Object.values(instances)) await instance.start({ DATABASE_URL: database.url });
    }, BUILD_MS);

    afterAll(async () => {
      for (const instance of Object.values(instances)) await instance.clear();
      await database.drop();
    });

    describe.each([
      ['1.1', '1.2'],
      ['1.2', '1.1'],
    ] as const)('a session that %s opened', (opener, other) => {
      const urls = () => [instances[opener].url, instances[other].url] as const;

      it(`can be refreshed and used for changes at ${other}`, async () => {
        const [here, there] = urls();
        const email = freshEmail();
        for (const open of [register, login]) {
          const client = await open(here, email);
          const elsewhere = at(there, client);
          await elsewhere.get('/api/refresh').expect(200);
          await elsewhere.post('/api/otp').expect(204);
          await elsewhere.patch('/api/users').send({}).expect(200);
          await at(here, client).get('/api/refresh').expect(200);
        }
      });

      it(`ends everywhere with a logout at ${other}`, async () => {
        const [here, there] = urls();
        const client = await register(here);
        await at(there, client).post('/api/logout').expect(204);
        await expectEnded(client);
      });

      it(`ends everywhere with a change of the password at ${other}`, async () => {
        const [here, there] = urls();
        const email = freshEmail();
        const first = await register(here, email);
        const second = await login(here, email);
        const changing = at(there, second);
        const change = {
          currentPassword: PASSWORD,
          password: NEW_PASSWORD,
          passwordConfirmation: NEW_PASSWORD,
        };
        await changing.put('/api/users/password').send(change).expect(204);
        await expectEnded(first);
        await expectEnded(second);
        await expectRefresh(changing, here, there);
        await at(instances['1.2'].url, changing).post('/api/otp').expect(204);
      });

      it(`keeps only its access token after a login at ${other}`, async () => {
        const [here, there] = urls();
        const email = freshEmail();
        const earlier = await register(here, email);
        const later = await login(there, email);
        await expectNoRefresh(earlier, here, there);
        await at(instances['1.2'].url, earlier).post('/api/otp').expect(204);
        await expectRefresh(later, here, there);
      });
    });

    it('leaves one refresh token after 20 parallel logins at both versions', async () => {
      const email = freshEmail();
      await register(instances['1.1'].url, email);
      const clients = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          login(instances[index % 2 === 0 ? '1.1' : '1.2'].url, email),
        ),
      );
      for (const { url } of Object.values(instances)) {
        const refreshed = await Promise.all(clients.map((client) => at(url, client).get('/api/refresh')));
        expect(refreshed.filter(({ status }) => status === 200)).toHaveLength(1);
      }
    });
  });

  it(
    'hands over a data directory whose customers stay signed in: they refresh and order',
    async () => {
      const before = await ServiceInstance.create(undefined, build);
      const after = await ServiceInstance.create(before.dataDir);
      try {
        await before.start();
        const { id } = await createProduct(await before.admin());
        const customer = await register(before.url);
        const placed = orderOf(await order(customer, [{ product_id: id, quantity: 1 }]).expect(201));
        await before.stop();

        await after.start();
        const upgraded = at(after.url, customer);
        await order(upgraded, [{ product_id: id, quantity: 1 }]).expect(201);
        await upgraded.forgetCookie('accessToken').get('/api/refresh').expect(200);
        await order(upgraded, [{ product_id: id, quantity: 2 }]).expect(201);
        const orders = await upgraded.get('/api/orders').expect(200);
        expect(JSON.stringify(orders.body)).toContain(placed.order_id);
        await upgraded.post('/api/logout').expect(204);
        await expectNoRefresh(customer, after.url);
      } finally {
        await after.clear();
        await before.clear();
      }
    },
    BUILD_MS,
  );
});
