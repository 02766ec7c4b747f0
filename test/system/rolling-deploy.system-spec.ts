import { requestPasswordChange, registerAccount, signIn } from '../support/accounts.js';
import type { Client } from '../support/client.js';
import { createDatabase, type TestDatabase } from '../support/databases.js';
import { expectFailure, MESSAGES } from '../support/failure.js';
import { MidtransStandIn } from '../support/midtrans-stand-in.js';
import { sendNotification } from '../support/notifications.js';
import { gatewaySettings, placeOrder, readOrder } from '../support/orders.js';
import { createProduct } from '../support/products.js';
import { ServiceInstance } from '../support/service-process.js';
import { buildVersion12, describeWithVersion12 } from '../support/version-1.2.js';
import { inParallel } from '../support/wait.js';

describeWithVersion12('version 1.2', () => {
  let buildFolder: string;

  beforeAll(async () => {
    buildFolder = await buildVersion12();
  });

  describe('and this version on one database', () => {
    let database: TestDatabase;
    let gateway: MidtransStandIn;
    let instances: Readonly<Record<'1.2' | '1.3', ServiceInstance>>;
    let productId: number;

    beforeAll(async () => {
      database = await createDatabase();
      gateway = await MidtransStandIn.start();
      instances = { '1.2': await ServiceInstance.create(), '1.3': await ServiceInstance.create() };
      const settings = { DATABASE_URL: database.url, ...gatewaySettings(gateway) };
      await instances['1.2'].start(settings, buildFolder);
      await instances['1.3'].start(settings);
      ({ id: productId } = await createProduct(await instances['1.2'].admin()));
    });

    async function expectNoRefresh(client: Client): Promise<void> {
      for (const { url } of Object.values(instances))
        expectFailure(await client.clone(url).get('/api/refresh'), 401, MESSAGES.invalidRefreshToken);
    }

    /** Places an order at one version. Returns its id and a client of the customer for each version. */
    async function order(here: '1.2' | '1.3') {
      const { client } = await registerAccount(instances[here]);
      const placed = await placeOrder(client.clone(instances[here].url), [
        { product_id: productId, quantity: 2 },
      ]);
      return { orderId: placed.order_id, customer: client };
    }

    describe.each([
      ['1.2', '1.3'],
      ['1.3', '1.2'],
    ] as const)('started at %s and continued at %s', (here, there) => {
      const notify = (orderId: string, version: '1.2' | '1.3') =>
        sendNotification(instances[version], gateway.notification(orderId)).expect(200);

      async function expectInBoth(customer: Client, orderId: string, expected: object): Promise<void> {
        for (const { url } of Object.values(instances))
          expect(await readOrder(customer.clone(url), orderId)).toMatchObject(expected);
      }

      it(`a session of ${here} can be refreshed and used at ${there}, and ends everywhere with a logout there`, async () => {
        const { client } = await registerAccount(instances[here]);
        const elsewhere = client.clone(instances[there].url);
        await elsewhere.get('/api/refresh').expect(200);
        await elsewhere.patch('/api/users').send({}).expect(200);
        await client.clone().get('/api/refresh').expect(200);
        await elsewhere.post('/api/logout').expect(204);
        await expectNoRefresh(client);
      });

      it(`all sessions of ${here} end with a change of the password at ${there}, except the new one`, async () => {
        const { client: first, email } = await registerAccount(instances[here]);
        const changing = (await signIn(instances[here], email)).clone(instances[there].url);
        await requestPasswordChange(changing).expect(204);
        await expectNoRefresh(first);
        for (const { url } of Object.values(instances))
          await changing.clone(url).get('/api/refresh').expect(200);
      });

      it(`an order of ${here} is paid by notifications that arrive at both versions, and is refunded at ${there}`, async () => {
        const { orderId, customer } = await order(here);
        gateway.setStatus(orderId, 'pending', { paymentType: 'qris' });
        await notify(orderId, here);
        gateway.setStatus(orderId, 'settlement', { paymentType: 'qris' });
        await inParallel(20, (n) => notify(orderId, n % 2 === 0 ? here : there));
        await expectInBoth(customer, orderId, { status: 'settlement', refunded_amount: 0 });
        const { rows: applied } = await database.pool.query(
          "SELECT FROM payment_notifications WHERE order_id = $1 AND outcome = 'applied' AND transaction_status = 'settlement'",
          [orderId],
        );
        expect(applied).toHaveLength(1);
        const admin = await instances[there].admin();
        await admin.post(`/api/admin/orders/${orderId}/refund`).send({ amount: 1000 }).expect(200);
        await expectInBoth(customer, orderId, { status: 'partial_refund', refunded_amount: 1000 });
        const { transactions } = gateway.order(orderId);
        expect(transactions.flatMap(({ refunds }) => refunds.map(({ amount }) => amount))).toEqual([1000]);
      });

      it(`an order of ${here} gets its payment page at ${there} and is cancelled there`, async () => {
        const { orderId, customer } = await order(here);
        const elsewhere = customer.clone(instances[there].url);
        await elsewhere.post(`/api/orders/${orderId}/token`).expect(200);
        await elsewhere.post(`/api/orders/${orderId}/cancel`).expect(200);
        await expectInBoth(customer, orderId, { status: 'cancel' });
      });
    });
  });

  it('leaves a data directory with which customers stay signed in and keep their orders in this version', async () => {
    const before = await ServiceInstance.create();
    const after = await ServiceInstance.create(before.dataDir);
    await before.start({}, buildFolder);
    const { id } = await createProduct(await before.admin());
    const { client: customer } = await registerAccount(before);
    const placed = await placeOrder(customer, [{ product_id: id, quantity: 1 }]);
    await before.stop();

    await after.start();
    const upgraded = customer.clone(after.url);
    await placeOrder(upgraded, [{ product_id: id, quantity: 1 }]);
    await upgraded.get('/api/refresh').expect(200);
    expect((await readOrder(upgraded, placed.order_id)).status).toBe('pending');
  });
});
