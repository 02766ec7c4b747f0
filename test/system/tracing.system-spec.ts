import { MidtransStandIn } from '../support/midtrans-stand-in.js';
import { gatewaySettings, orderOf } from '../support/orders.js';
import { type CollectedSpan, startOtlpCollector } from '../support/otlp-collector.js';
import { createProduct } from '../support/products.js';
import { ACCESS_SECRET } from '../support/service.js';
import { useServiceProcess } from '../support/service-process.js';
import { until } from '../support/wait.js';

/** Kinds of spans in OTLP. */
const [SERVER, CLIENT, CONSUMER] = [2, 3, 5];
const CALLER = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
const PASSWORD = 'a secret password';

const gateway = await MidtransStandIn.start();

/** Starts a service that exports its spans every 100 ms. */
const useTracedService = (collectorUrl: string, settings: Record<string, string> = {}) =>
  useServiceProcess({
    ...gatewaySettings(gateway),
    OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl,
    OTEL_BSP_SCHEDULE_DELAY: '100',
    ...settings,
  });

describe('a service with tracing', () => {
  let spans: readonly CollectedSpan[] = [];
  /** Bodies of all exports in one text. */
  let exported: string;
  let log: readonly Record<string, unknown>[];
  let tokens: readonly string[];
  const findSpan = (name: string) => spans.find((span) => span.name === name);

  beforeAll(async () => {
    const collector = await startOtlpCollector();
    ({ spans } = collector);
    const service = await useTracedService(collector.url);
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
    await customer.get('/api/nowhere/secret-path').expect(404);
    await until('the collector receives the span of the job', () => findSpan('job send-otp'));
    const { token } = orderOf(response);
    expect(token).toEqual(expect.any(String));
    tokens = [customer.cookie('accessToken'), String(token)];
    await service.stop();
    // The service has exported its last spans when it stopped.
    exported = collector.raw();
    const lines = service.output().match(/^\{.*$/gm) ?? [];
    log = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  });

  it('puts a request, its statements and its call of the gateway into one trace, below the span of the caller', () => {
    const trace = spans.filter(({ traceId }) => traceId === CALLER.traceId);
    const server = trace.find(({ kind }) => kind === SERVER);
    expect(server).toMatchObject({
      name: 'POST /api/orders',
      parentSpanId: CALLER.spanId,
      attributes: { 'http.route': '/api/orders', 'http.response.status_code': '201' },
    });
    const calls = trace.filter(({ kind }) => kind === CLIENT);
    const statements = calls.filter(({ attributes }) => attributes['db.system.name'] === 'postgresql');
    expect(statements.map(({ attributes }) => attributes['db.query.text'])).toContainEqual(
      expect.stringMatching(/INSERT INTO "?orders"?.*VALUES \(.*\$1/s),
    );
    const snapUrl = `${gateway.snapUrl}/transactions`;
    const toGateway = calls.filter(({ attributes }) => attributes['url.full'] === snapUrl);
    expect(toGateway).toHaveLength(1);
    for (const span of [...statements, ...toGateway]) expect(span.parentSpanId).toBe(server?.spanId);
    const lines = log.filter(({ requestId }) => requestId === 'the-order');
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines)
      expect(line).toMatchObject({ trace_id: CALLER.traceId, span_id: server?.spanId });
  });

  it('starts a new trace for a job, with a link to the request that enqueued the job', () => {
    const registration = findSpan('POST /api/register');
    const job = findSpan('job send-otp');
    expect(job).toMatchObject({ kind: CONSUMER, links: [{ traceId: registration?.traceId }] });
    expect(job?.traceId).not.toBe(registration?.traceId);
    expect(spans.filter(({ traceId }) => traceId === job?.traceId).length).toBeGreaterThan(1);
  });

  it('exports no spans for health checks or for the polls of the job queue', () => {
    expect(spans.filter(({ name }) => name.includes('health'))).toEqual([]);
    // The job queue polls outside of any span, so a span of its SQL would be a root.
    const roots = spans.filter(({ parentSpanId }) => parentSpanId === undefined);
    expect(roots.filter(({ kind }) => kind === CLIENT)).toEqual([]);
  });

  it('exports the name of the service and no secret', () => {
    expect(exported).toContain('bakery-catalog-service');
    const typed = [PASSWORD, 'private@example.com', 'secret-query', 'secret-path'];
    const credentials = Buffer.from(`${gateway.serverKey}:`).toString('base64');
    const passwordHash = 'argon2id'; // the beginning of every hash
    for (const secret of [...typed, ...tokens, gateway.serverKey, credentials, ACCESS_SECRET, passwordHash])
      expect(exported).not.toContain(secret);
  });
});

it('a service whose collector is down works, logs the failed exports, and stops within 10 s', async () => {
  // An export is retried for half a second.
  const service = await useTracedService('http://127.0.0.1:9', { OTEL_EXPORTER_OTLP_TIMEOUT: '500' });
  const customer = service.client();
  await customer.register({ email: 'away@example.com' }).expect(201);
  const isLogged = () => service.output().includes('ECONNREFUSED 127.0.0.1:9');
  await until('the failed export is logged', isLogged);
  await customer.get('/api/users').expect(200);
  expect(await service.stop()).toBe(0);
  expect(service.output()).toContain('"msg":"stopped"'); // Otherwise, a timer has ended the process after 9.5 s.
});
