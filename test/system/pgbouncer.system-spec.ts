import { randomUUID } from 'node:crypto';
import { Client } from '../support/client.js';
import { createEmptyDatabase, type TestDatabase } from '../support/databases.js';
import { jobRows } from '../support/jobs.js';
import { buildNotification, NOTIFICATIONS_PATH } from '../support/notifications.js';
import { order, orderOf, readOrder } from '../support/orders.js';
import { hasPgBouncer, type PgBouncer, startPgBouncer } from '../support/pgbouncer.js';
import { png } from '../support/pictures.js';
import { createProduct } from '../support/products.js';
import { ADMIN } from '../support/service.js';
import { untilReady } from '../support/process.js';
import { ServiceInstance } from '../support/service-process.js';
import { SmtpStandIn } from '../support/smtp-stand-in.js';
import { until } from '../support/wait.js';

const isInstalled = hasPgBouncer();
// CI installs PgBouncer. Without it, the title of the skipped test says so.
if (!isInstalled && process.env.CI !== undefined) throw new Error('CI needs the package pgbouncer');

describe(`two processes behind PgBouncer in transaction mode${isInstalled ? '' : ' (skipped: the package pgbouncer is not installed)'}`, () => {
  const whenInstalled = isInstalled ? it : it.skip;
  let database: TestDatabase;
  let pooler: PgBouncer;
  let smtp: SmtpStandIn;
  let instances: ServiceInstance[] = [];

  const clientsOfBoth = (): [Client, Client] => {
    const [one, other] = instances;
    return [new Client(one?.url ?? ''), new Client(other?.url ?? '')];
  };

  beforeAll(async () => {
    if (!isInstalled) return;
    database = await createEmptyDatabase();
    pooler = await startPgBouncer(database.url);
    smtp = await SmtpStandIn.start();
    const settings = { DATABASE_URL: pooler.through(database.url), SMTP_URL: smtp.url };
    const owner = await ServiceInstance.create();
    instances = [await ServiceInstance.create(owner.dataDir), owner];
    await Promise.all(instances.map((instance) => instance.start(settings)));
  });

  afterAll(async () => {
    if (!isInstalled) return;
    for (const instance of instances) await instance.clear();
    await smtp.close();
    await pooler.stop();
    await database.drop();
  });

  whenInstalled('both are ready, and the migrations have run once', async () => {
    for (const { url } of instances) await untilReady(url);
    const { rows } = await database.pool.query<{ name: string; times: number }>(
      'SELECT name, count(*)::int AS times FROM migrations GROUP BY name',
    );
    expect(rows.length).toBeGreaterThan(3);
    expect(rows.filter(({ times }) => times !== 1)).toEqual([]);
  });

  whenInstalled('customers who register at either process get one mail each', async () => {
    const [one, other] = clientsOfBoth();
    const emails = Array.from({ length: 20 }, () => `${randomUUID()}@example.com`);
    const answers = await Promise.all(
      emails.map((email, index) => new Client((index % 2 === 0 ? one : other).url).register({ email })),
    );
    expect(answers.map(({ status }) => status)).toEqual(emails.map(() => 201));
    await until('all mails are sent', async () => (await jobRows(database.pool)).length === 0);
    expect(smtp.mails.map(({ to }) => to[0]).toSorted()).toEqual(emails.toSorted());
  });

  whenInstalled('a product, an order and a payment of one process are visible at the other one', async () => {
    const [admin, customer] = clientsOfBoth();
    await admin.post('/api/login').send(ADMIN).expect(200);
    const { id } = await createProduct(admin, [{ bytes: png(), name: 'a.png' }]);
    await customer.register({ email: `${randomUUID()}@example.com` }).expect(201);
    await until('the other process lists the product', async () => {
      const { text } = await customer.get('/api/products');
      return text.includes(`"id":${id},`);
    });

    const { order_id, gross_amount } = orderOf(await order(customer, [{ product_id: id, quantity: 2 }]));
    const body = buildNotification({ order_id, gross_amount: `${gross_amount}.00` });
    await admin.post(NOTIFICATIONS_PATH).send(body).expect(200);
    expect(await readOrder(customer, order_id)).toMatchObject({ status: 'settlement' });
  });
});
