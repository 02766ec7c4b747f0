import { importPackage } from '../support/built.js';
import { useServiceBehindProxy } from '../support/database-proxy.js';
import { addJob } from '../support/jobs.js';
import { measureRunning } from '../support/measure.js';
import { findFreePort } from '../support/process.js';
import { createPictures, createProduct } from '../support/products.js';
import { sendRaw } from '../support/raw-http.js';
import { useServiceProcess } from '../support/service-process.js';
import { openShop, type Shop } from '../support/shop.js';
import { until } from '../support/wait.js';

/** Samples of a scrape, by name and labels in the notation of Prometheus. */
type Samples = ReadonlyMap<string, number>;

async function scrape(port: number): Promise<{ text: string; samples: Samples }> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  expect(response.status).toBe(200);
  const text = await response.text();
  const samples = [...text.matchAll(/^([^#\s].*) (\S+)$/gm)];
  return { text, samples: new Map(samples.map(([, name = '', value]) => [name, Number(value)])) };
}

/** Scrapes until a scrape has the metrics of the database. The service stops waiting for them after a second. */
function scrapeWithDatabase(port: number) {
  return until('the database is up', async () => {
    const scraped = await scrape(port);
    return scraped.samples.get('bakery_database_up') === 1 && scraped;
  });
}

function requestCountName(method: string, route: string, status: number): string {
  const labels = `http_request_method="${method}",http_route="${route}",http_response_status_code="${status}"`;
  return `http_server_request_duration_seconds_count{${labels}}`;
}

function lostConnectionsName(pool: string): string {
  return `bakery_database_connections_lost_total{db_client_connection_pool_name="${pool}"}`;
}

it('the counters of a new process start at 0 for each value of their label', async () => {
  const port = await findFreePort();
  await useServiceProcess({ METRICS_PORT: String(port), METRICS_HOST: '127.0.0.1' });
  const { samples } = await scrape(port);
  expect(Object.fromEntries(samples)).toMatchObject({
    [lostConnectionsName('requests')]: 0,
    [lostConnectionsName('jobs')]: 0,
    'bakery_auth_proofs_total{secret="code",outcome="slowed"}': 0,
    'bakery_payment_notifications_total{outcome="invalid"}': 0,
    'bakery_refunds_total{outcome="rejected"}': 0,
    'bakery_mails_total{outcome="dead"}': 0,
  });
});

it('scrapes report within 10 s that the database does not respond, and later count the connections that were lost', async () => {
  const port = await findFreePort();
  const { proxy } = await useServiceBehindProxy({ METRICS_PORT: String(port) });
  await scrapeWithDatabase(port);
  proxy.stall();
  const { result, runningMs } = await measureRunning(() =>
    until('the outage is reported', async () => {
      const scraped = await scrape(port);
      return scraped.samples.get('bakery_database_up') === 0 && scraped;
    }),
  );
  expect(runningMs).toBeLessThan(10_000);
  expect([...result.samples.keys()].filter((name) => name.startsWith('bakery_jobs'))).toEqual([]);
  await proxy.down();
  await proxy.up();
  await until('the lost connections of both pools are counted', async () => {
    const { samples: later } = await scrape(port);
    return ['requests', 'jobs'].every((pool) => (later.get(lostConnectionsName(pool)) ?? 0) > 0);
  });
});

// After the tests above: their services would change the same metrics.
describe('the metrics of a shop', () => {
  let shop: Shop;
  let port: number;

  beforeAll(async () => {
    // The counters are global in the process: another test file may have incremented them.
    const { register } = await importPackage('prom-client');
    register.resetMetrics();
    port = await findFreePort();
    shop = await openShop({ settings: { METRICS_PORT: String(port) } });
  });

  describe('after requests of a customer, an administrator and a gateway', () => {
    let text: string;
    let samples: Samples;
    let orderId: string;

    beforeAll(async () => {
      const { service, customer, gateway } = shop;
      await createProduct(shop.admin, createPictures(1));
      await customer.get('/api/products').expect(200);
      await until('a page comes from the cache', async () => {
        await customer.get('/api/products').expect(200);
        return ((await scrape(port)).samples.get('bakery_catalog_cache_pages_total{result="hit"}') ?? 0) > 0;
      });
      orderId = await shop.orderTwoPieces();
      await customer.get(`/api/orders/${orderId}`).expect(200);
      gateway.settle(orderId);
      await shop.notify(orderId);
      await shop.notify(orderId);
      expect((await shop.sendNotification(orderId, { signature_key: 'forged' })).status).toBe(403);
      // Anybody can send this request, so it must not count as `invalid`, for which an alert fires.
      await service.client().post('/api/products/payments').send({}).expect(400);
      // The second "ready" changes nothing, so it does not count.
      for (const fulfilment of ['preparing', 'ready', 'ready', 'refused'])
        await shop.setFulfilment(orderId, fulfilment);
      const withLostNotification = await shop.orderTwoPieces();
      gateway.settle(withLostNotification);
      await shop.reconcile([withLostNotification]);
      const stranger = { email: 'stranger@example.com', password: 'x' };
      await service.client().post('/api/login').send(stranger).expect(400);
      await customer.get('/api/made/up/1').expect(404);
      await customer.get('/api/made/up/2').expect(404);
      await customer
        .post('/api/orders')
        .set('Origin', 'https://evil.example')
        .send({ items: [] })
        .expect(403);
      await sendRaw(service.url, 'NO HTTP\r\n\r\n');
      const isSent = async () => (await scrape(port)).samples.has('bakery_mails_total{outcome="sent"}');
      await until('a mail is sent', isSent);
      ({ text, samples } = await scrapeWithDatabase(port));
    });

    it('count requests by the pattern of their route', () => {
      // Every page of the list is a hit or a miss of the cache.
      const pages =
        (samples.get('bakery_catalog_cache_pages_total{result="hit"}') ?? 0) +
        (samples.get('bakery_catalog_cache_pages_total{result="miss"}') ?? 0);
      expect(Object.fromEntries(samples)).toMatchObject({
        [requestCountName('GET', '/api/orders/:order_id', 200)]: 1,
        [requestCountName('POST', '/api/products/payments', 200)]: 2,
        [requestCountName('GET', 'none', 404)]: 2,
        [requestCountName('POST', 'none', 403)]: 1,
        [requestCountName('GET', '/api/products', 200)]: pages,
        'http_server_unparsable_requests_total{http_response_status_code="400"}': 1,
      });
    });

    it('count logins, uploads, orders and notifications', () => {
      // `resetMetrics` removes counters, and a removed counter is absent until its first increment.
      expect(samples.get('bakery_payment_notifications_total{outcome="invalid"}') ?? 0).toBe(0);
      expect(Object.fromEntries(samples)).toMatchObject({
        bakery_orders_created_total: 2,
        'bakery_orders_fulfilment_total{fulfilment="preparing"}': 1,
        'bakery_orders_fulfilment_total{fulfilment="ready"}': 1,
        'bakery_orders_fulfilment_total{fulfilment="refused"}': 1,
        'bakery_payment_notifications_total{outcome="applied"}': 1,
        'bakery_payment_notifications_total{outcome="duplicate"}': 1,
        'bakery_payment_notifications_total{outcome="bad_signature"}': 2,
        'bakery_payment_reconciliations_total{outcome="found"}': 1,
        'bakery_auth_proofs_total{secret="password",outcome="wrong"}': 1,
        'bakery_uploads_total{outcome="received"}': 2, // One of them created the product of `openShop`, without pictures.
        bakery_uploads_in_flight: 0,
      });
    });

    it('contain the state of the database, of the queue and of other services', () => {
      expect(Object.fromEntries(samples)).toMatchObject({
        'bakery_neighbour_call_duration_seconds_count{neighbour="gateway",operation="create",outcome="ok"}': 2,
        'bakery_neighbour_call_duration_seconds_count{neighbour="gateway",operation="status",outcome="ok"}': 1,
        'bakery_neighbour_call_duration_seconds_count{neighbour="image_host",operation="upload",outcome="ok"}': 1,
        'db_client_connection_max{db_client_connection_pool_name="requests"}': 10,
        'db_client_connection_pending_requests{db_client_connection_pool_name="jobs"}': 0,
        bakery_database_up: 1,
        bakery_queue_working: 1,
        bakery_queue_fetch_age_seconds: expect.any(Number) as number,
        bakery_database_read_only: 0,
        bakery_jobs_oldest_due_age_seconds: expect.any(Number) as number,
      });
      for (const name of [
        'bakery_upload_bytes_total',
        'bakery_catalog_cache_bytes',
        'nodejs_eventloop_lag_p99_seconds',
        'process_resident_memory_bytes',
        'bakery_job_duration_seconds_count{task="send-otp",outcome="done"}',
      ])
        expect({ name, isPositive: (samples.get(name) ?? 0) > 0 }).toEqual({ name, isPositive: true });
    });

    it('contain no data of clients', () => {
      for (const hidden of [orderId, 'stranger@example.com', 'made/up', 'evil.example'])
        expect(text).not.toContain(hidden);
    });

    it('lack the age of the newest backup, because BACKUP_DIR is unset', () => {
      expect(text).not.toMatch(/^bakery_backup_age_seconds /m);
    });
  });

  it('count jobs by state and task, and contain the age of the oldest due job in seconds', async () => {
    for (const dueInS of [-3_600, 3_600])
      await addJob(shop.service.database.pool, 'no-such-task', { key: `${dueInS}`, dueInS });
    const { samples } = await until('the scrape contains the new jobs', async () => {
      const scraped = await scrape(port);
      return scraped.samples.has('bakery_jobs{state="due",task="no-such-task"}') && scraped;
    });
    expect(samples.get('bakery_jobs{state="due",task="no-such-task"}')).toBe(1);
    expect(samples.get('bakery_jobs{state="waiting",task="no-such-task"}')).toBe(1);
    expect(samples.get('bakery_jobs_oldest_due_age_seconds')).toBeCloseTo(3600, -2);
  });

  it('count the products that customers cannot order now', async () => {
    const path = `/api/admin/products/${shop.productId}/availability`;
    for (const available of [false, true]) {
      await shop.admin.put(path).send({ available }).expect(200);
      const { samples } = await scrapeWithDatabase(port);
      expect(samples.get('bakery_products_unavailable')).toBe(available ? 0 : 1);
    }
  });

  it('count transactions that bring money for a paid order', async () => {
    const orderId = await shop.orderTwoPieces();
    await shop.setStatusAndNotify(orderId, 'settlement');
    await shop.setStatusAndNotify(await shop.addAttempt(orderId), 'settlement');
    const { samples } = await scrapeWithDatabase(port);
    expect(samples.get('bakery_payments_surplus_total')).toBe(1);
  });

  it('are served only on the metrics port, which serves nothing else', async () => {
    expect((await fetch(`http://127.0.0.1:${port}/api/health/live`)).status).toBe(404);
    expect((await fetch(`${shop.service.url}/metrics`)).status).toBe(404);
  });
});
