import { gatewaySettings, orderOf } from '../support/orders.js';
import { MidtransStandIn } from '../support/midtrans-stand-in.js';
import { type CollectedSpan, startOtlpCollector } from '../support/otlp-collector.js';
import { createProduct } from '../support/products.js';
import { ACCESS_SECRET } from '../support/service.js';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.js';
import { stopAfterTests } from '../support/stop-after-tests.js';
import { until } from '../support/wait.js';

/** Kinds of spans in OTLP. */
const [SERVER, CLIENT, CONSUMER] = [2, 3, 5];
const CALLER = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
const PASSWORD = 'a secret password';

const gateway = await stopAfterTests(MidtransStandIn.start(), (started) => started.down());
const stops: (() => Promise<unknown>)[] = [];
/** Stops the service or the collector that was started last. Returns the exit code of a service. */
const stopLast = () => stops.pop()?.();

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** Starts a service that exports its spans every 100 ms. */
async function start(collectorUrl: string, settings: Record<string, string> = {}): Promise<ServiceProcess> {
  const service = await startServiceProcess({
    ...gatewaySettings(gateway),
    OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl,
    OTEL_BSP_SCHEDULE_DELAY: '100',
    ...settings,
  });
  stops.push(() => service.stop());
  return service;
}

function parseLog(service: ServiceProcess): Record<string, unknown>[] {
  const lines = service.output().match(/^\{.*$/gm) ?? [];
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

it('the spans of an order form one trace, jobs are traced, health checks and polls are not, and no span has a secret', async () => {
  const collector = await startOtlpCollector();
  stops.push(() => collector.close());
  const service = await start(collector.url);
  const customer = service.client();
  await customer.register({ email: 'private@example.com', password: PASSWORD }).expect(201);
  const { id: productId } = await createProduct(await service.admin());
  const response = await customer
    .post('/api/orders?coupon=secret-query')
    // The flag 00 asks not to record the trace, which the service ignores.
    .set('traceparent', `00-${CALLER.traceId}-${CALLER.spanId}-00`)
    .set('X-Request-Id', 'the-order')
    .send({ items: [{ product_id: productId, quantity: 2 }] })
    .expect(201);
  await customer.get('/api/health/ready').expect(200);
  await customer.get('/api/products').expect(200);
  await customer.get('/api/products').set('X-Request-Id', 'a-page').expect(200);
  await customer.get('/api/nowhere/secret-path').expect(404);

  const spansOfOrder = (): CollectedSpan[] =>
    collector.spans.filter(({ traceId }) => traceId === CALLER.traceId);
  const server = await until('the collector receives the order', () =>
    spansOfOrder().find(({ kind }) => kind === SERVER),
  );
  expect(server).toMatchObject({
    name: 'POST /api/orders',
    parentSpanId: CALLER.spanId,
    attributes: { 'http.route': '/api/orders', 'http.response.status_code': '201' },
  });
  const calls = spansOfOrder().filter(({ kind }) => kind === CLIENT);
  const statements = calls.filter(({ attributes }) => attributes['db.system.name'] === 'postgresql');
  expect(statements.map(({ attributes }) => attributes['db.query.text'])).toContainEqual(
    expect.stringMatching(/INSERT INTO "?orders"?.*VALUES \(.*\$1/s),
  );
  const snapUrl = `${gateway.snapUrl}/transactions`;
  const toGateway = calls.filter(({ attributes }) => attributes['url.full'] === snapUrl);
  expect(toGateway).toHaveLength(1);
  for (const span of [...statements, ...toGateway]) expect(span.parentSpanId).toBe(server.spanId);

  const lines = parseLog(service).filter(({ requestId }) => requestId === 'the-order');
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) expect(line).toMatchObject({ trace_id: CALLER.traceId, span_id: server.spanId });

  // The job of a mail is a trace of its own, with a link to the request that enqueued it.
  const registration = await until('the collector receives the registration', () =>
    collector.spans.find(({ name }) => name === 'POST /api/register'),
  );
  const job = await until('the collector receives the job', () =>
    collector.spans.find(({ name }) => name === 'job send-otp'),
  );
  expect(job).toMatchObject({ kind: CONSUMER });
  expect(job.traceId).not.toBe(registration.traceId);
  expect(job.links).toEqual([expect.objectContaining({ traceId: registration.traceId })]);
  const spansOfJob = collector.spans.filter(({ traceId }) => traceId === job.traceId);
  expect(spansOfJob.length).toBeGreaterThan(1);
  const pageLine = parseLog(service).find(({ requestId }) => requestId === 'a-page');
  await until('the collector receives the page', () =>
    collector.spans.find(({ name, spanId }) => name === 'GET /api/products' && spanId === pageLine?.span_id),
  );
  expect(collector.spans.filter(({ name }) => name.includes('health'))).toEqual([]);
  // The job queue polls outside of any span, so a span of its SQL would be a root.
  const roots = collector.spans.filter(({ parentSpanId }) => parentSpanId === undefined);
  expect(roots.filter(({ kind }) => kind === CLIENT)).toEqual([]);

  await stopLast(); // The service exports its last spans when it stops.
  expect(collector.raw()).toContain('bakery-catalog-service');
  for (const secret of [
    PASSWORD,
    'private@example.com',
    'secret-query',
    'secret-path',
    customer.cookie('accessToken'),
    gateway.serverKey,
    Buffer.from(`${gateway.serverKey}:`).toString('base64'),
    ACCESS_SECRET,
    orderOf(response).token ?? 'no token',
    'argon2id', // the beginning of every password hash
  ]) {
    expect(collector.raw()).not.toContain(secret);
  }
});

it('a service whose collector is down works, logs the failed exports, and stops within 10 s', async () => {
  // An export is retried for half a second.
  const service = await start('http://127.0.0.1:9', { OTEL_EXPORTER_OTLP_TIMEOUT: '500' });
  const customer = service.client();
  await customer.register({ email: 'away@example.com' }).expect(201);
  const isLogged = () => service.output().includes('ECONNREFUSED 127.0.0.1:9');
  await until('the failed export is logged', isLogged);
  await customer.get('/api/users').expect(200);
  expect(await stopLast()).toBe(0);
  expect(service.output()).toContain('"msg":"stopped"'); // Otherwise, a timer has ended the process after 9.5 s.
});
