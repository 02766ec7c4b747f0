import { createHash, randomUUID } from 'node:crypto';
import type { Response } from 'supertest';
import type { PaymentGateway, TransactionRequest } from '../src/gateway/payment-gateway.js';
import { built } from './support/built.js';
import { Client } from './support/client.js';
import { createDatabase } from './support/databases.js';
import { freePort } from './support/process.js';
import { SERVER_KEY, startService, type ServiceOptions, type TestService } from './support/service.js';
import { until } from './support/wait.js';

interface PaymentView {
  readonly order_id: string;
  readonly transaction_id: string | null;
  readonly transaction_status: string | null;
  readonly payment_type: string | null;
  readonly fraud_status: string | null;
  readonly actions: readonly string[];
  readonly notifications: readonly {
    readonly kind: string;
    readonly transaction_status: string;
    readonly answer: string | null;
  }[];
}

const MINUTE = 60 * 1000;

let service: TestService;

/** The service at the address that it takes for its own. */
async function startAtPublicUrl(options: ServiceOptions = {}): Promise<TestService> {
  const port = await freePort();
  return startService({
    ...options,
    listenOn: port,
    settings: { PUBLIC_URL: `http://127.0.0.1:${port}`, ...options.settings },
  });
}

beforeAll(async () => {
  service = await startAtPublicUrl();
});

afterAll(async () => {
  await service.stop();
});

function requestOf(orderId: string, fields: Partial<TransactionRequest> = {}): TransactionRequest {
  return {
    orderId,
    grossAmount: 185_000,
    items: [
      { id: '1', name: 'Roti sobek', price: 45_000, quantity: 3 },
      { id: '2', name: 'Kue lapis', price: 50_000, quantity: 1 },
    ],
    customer: { fullname: 'Ayu Lestari', email: 'ayu@example.com' },
    ...fields,
  };
}

async function gatewayOf(at: TestService): Promise<PaymentGateway> {
  const { PaymentGateway: token } = await built('src/gateway/payment-gateway.js');
  return at.app.get<PaymentGateway>(token, { strict: false });
}

interface OpenPayment {
  readonly orderId: string;
  readonly path: string;
  page(): Promise<Response>;
  view(): Promise<PaymentView>;
  /** Posts an action as a script does; the view after it. */
  act(action: string, expectedStatus?: number): Promise<PaymentView>;
  order(): Promise<{ status: string; payment_type: string; completed_at: Date | null }>;
  /** Statuses of the notifications that the service kept, with what became of them, oldest first. */
  kept(): Promise<string[]>;
  /** The bodies that were sent, parsed, oldest first. */
  sent(): Promise<Record<string, unknown>[]>;
}

async function insertOrder(at: TestService, { orderId, grossAmount }: TransactionRequest): Promise<void> {
  await at.database.pool.query('INSERT INTO orders (order_id, user_id, gross_amount) VALUES ($1, 1, $2)', [
    orderId,
    grossAmount,
  ]);
}

/** An order of the service with its payment page. */
async function openPayment(
  at: TestService = service,
  fields: Partial<TransactionRequest> = {},
): Promise<OpenPayment> {
  const orderId = randomUUID();
  const request = requestOf(orderId, fields);
  await insertOrder(at, request);
  const { redirectUrl } = await (await gatewayOf(at)).createTransaction(request);
  const path = new URL(redirectUrl).pathname;
  const { pool } = at.database;
  const client = new Client(at.url);
  const dataOf = ({ body }: Response): PaymentView => (body as { data: PaymentView }).data;
  return {
    orderId,
    path,
    page: () => client.get(path).set('Accept', 'text/html').expect(200),
    view: async () => dataOf(await client.get(path).set('Accept', 'application/json').expect(200)),
    act: async (action, status = 200) =>
      dataOf(await client.post(`${path}/${action}`).set('Accept', 'application/json').expect(status)),
    order: async () =>
      (
        await pool.query('SELECT status, payment_type, completed_at FROM orders WHERE order_id = $1', [
          orderId,
        ])
      ).rows[0] as { status: string; payment_type: string; completed_at: Date | null },
    kept: async () =>
      (
        await pool.query<{ text: string }>(
          `SELECT coalesce(transaction_status, '?') || ' ' || outcome AS text
           FROM payment_notifications WHERE order_id = $1 ORDER BY id`,
          [orderId],
        )
      ).rows.map(({ text }) => text),
    sent: async () =>
      (
        await pool.query<{ notifications: { body: string }[] }>(
          'SELECT notifications FROM simulator_transactions WHERE order_id = $1',
          [orderId],
        )
      ).rows.flatMap(({ notifications }) =>
        notifications.map(({ body }) => JSON.parse(body) as Record<string, unknown>),
      ),
  };
}

/** What the notifications got, oldest first. */
function answers({ notifications }: PaymentView): (string | null)[] {
  return notifications.map(({ answer }) => answer);
}

describe('the simulator takes an order to its end', () => {
  it('an order is paid with one click, and the page shows that the service said 200', async () => {
    const payment = await openPayment();
    const { text } = await payment.page();
    const form = /<form method="post" action="([^"]*\/qris)">/.exec(text);
    const posted = await new Client(service.url).post(form?.[1] ?? '').expect(303);
    expect(posted.headers.location).toBe(payment.path);
    expect(await payment.order()).toMatchObject({
      status: 'settlement',
      payment_type: 'qris',
      completed_at: expect.any(Date) as Date,
    });
    const page = await payment.page();
    expect(page.text).toContain('HTTP 200');
    expect(page.text).toContain('<h1 id="state">settlement</h1>');
  });

  it.each([
    [['bank-transfer', 'settle'], 'settlement'],
    [['bank-transfer', 'fail'], 'failure'],
    [['card-authorize', 'capture', 'settle'], 'settlement'],
    [['gopay', 'partial-refund', 'refund'], 'refund'],
    [['gopay', 'deny'], 'deny'],
  ])('%j ends as %s, each step told to the service', async (actions, status) => {
    const payment = await openPayment();
    for (const action of actions) await payment.act(action);
    expect(answers(await payment.view())).toEqual(actions.map(() => 'HTTP 200'));
    expect((await payment.order()).status).toBe(status);
  });

  it('a denied payment may be tried again, under another transaction_id', async () => {
    const payment = await openPayment();
    const denied = await payment.act('deny');
    const paid = await payment.act('card');
    expect(paid.transaction_id).not.toBe(denied.transaction_id);
    expect(await payment.kept()).toEqual(['deny applied', 'capture applied']);
  });

  it('a payment at a convenience store is told without fraud_status; the service refuses that, asks and saves the sale', async () => {
    const payment = await openPayment();
    await payment.act('convenience-store');
    const view = await payment.act('settle');
    expect(view).toMatchObject({
      transaction_status: 'settlement',
      payment_type: 'cstore',
      fraud_status: null,
    });
    expect(answers(view)).toEqual(['HTTP 400', 'HTTP 400']);
    await until('the order is paid', async () => (await payment.order()).status === 'settlement');
    expect((await payment.kept()).filter((kept) => kept === '? rejected')).toHaveLength(2);
    for (const body of await payment.sent()) expect(body).not.toHaveProperty('fraud_status');
    expect(await (await gatewayOf(service)).status(payment.orderId)).toMatchObject({
      transactionStatus: 'settlement',
      fraudStatus: null,
    });
  });
});

describe('the notifications of the simulator', () => {
  it('have the documented fields as strings, signed as documented, and further ones', async () => {
    const payment = await openPayment();
    await payment.act('bank-transfer');
    const [body = {}] = await payment.sent();
    expect(body).toMatchObject({
      transaction_time: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/) as string,
      status_code: '201',
      transaction_status: 'pending',
      gross_amount: '185000.00',
      order_id: payment.orderId,
      payment_type: 'bank_transfer',
      fraud_status: 'accept',
      va_numbers: [{ bank: 'bca', va_number: expect.stringMatching(/^\d{15}$/) as string }],
    });
    const text = `${payment.orderId}201185000.00${SERVER_KEY}`;
    expect(body.signature_key).toBe(createHash('sha512').update(text).digest('hex'));
    const time = new Date(`${String(body.transaction_time).replace(' ', 'T')}+07:00`);
    expect(Math.abs(Date.now() - time.getTime())).toBeLessThan(MINUTE);
  });

  it.each([
    ['send-again', 'HTTP 200', ['settlement applied', 'settlement duplicate']],
    ['send-late-pending', 'HTTP 200', ['settlement applied', 'pending late']],
    ['send-bad-signature', 'HTTP 403', ['settlement applied']],
  ])('after a payment %s is answered %s, and the page shows it', async (action, answer, kept) => {
    const payment = await openPayment();
    await payment.act('gopay');
    expect(answers(await payment.act(action))).toEqual(['HTTP 200', answer]);
    expect(await payment.kept()).toEqual(kept);
    expect((await payment.order()).status).toBe('settlement');
    expect((await payment.page()).text).toContain(answer);
  });
});

describe('what a state does not allow', () => {
  it('is refused with 409 on a page that says so, and nothing is sent', async () => {
    const payment = await openPayment();
    const { text } = await new Client(service.url).post(`${payment.path}/settle`).expect(409);
    expect(text).toMatch(/role="alert".*does not allow <code>settle<\/code>/);
    await new Client(service.url)
      .post(`${payment.path}/settle`)
      .set('Accept', 'application/json')
      .expect(409, {
        status: 'fail',
        errors: { code: 409, message: 'the payment is in a state that does not allow this' },
      });
    expect((await payment.view()).notifications).toEqual([]);
  });

  it.each([
    [[], ['card', 'card-authorize', 'gopay', 'qris', 'bank-transfer', 'convenience-store', 'deny']],
    [['bank-transfer'], ['settle', 'cancel', 'expire', 'deny', 'fail', 'send-again', 'send-bad-signature']],
    [
      ['card'],
      [
        'settle',
        'refund',
        'partial-refund',
        'cancel',
        'send-again',
        'send-late-pending',
        'send-bad-signature',
      ],
    ],
    [
      ['gopay', 'refund'],
      ['send-again', 'send-late-pending', 'send-bad-signature'],
    ],
  ])('after %j only these are allowed: %j', async (actions, allowed) => {
    const payment = await openPayment();
    for (const action of actions) await payment.act(action);
    const view = await payment.view();
    expect(view.actions).toEqual(allowed);
    const { text } = await payment.page();
    const offered = [...text.matchAll(/<form method="post" action="[^"]*\/([^"/]+)">/g)].map(
      ([, name]) => name,
    );
    expect(new Set(offered)).toEqual(new Set(allowed));
  });

  it('ten clicks at once on different ways to pay are one payment', async () => {
    const payment = await openPayment();
    const clicks = Array.from({ length: 10 }, (_, click) =>
      new Client(service.url).post(`${payment.path}/${click % 2 === 0 ? 'gopay' : 'card'}`),
    );
    const statuses = (await Promise.all(clicks)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 303)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(9);
    expect((await payment.view()).notifications).toHaveLength(1);
  });

  it('an unknown token, action or order is a 404', async () => {
    const payment = await openPayment();
    const client = new Client(service.url);
    await client.get(`/api/simulator/${randomUUID()}`).expect(404);
    await client.get('/api/simulator/%00').expect(404);
    await client.get(`/api/simulator/${payment.orderId}`).expect(404);
    await client.post(`/api/simulator/${randomUUID()}/card`).expect(404);
    await client.post(`${payment.path}/bribe`).expect(404);
    await client.post(`${payment.path}/constructor`).expect(404);
  });
});

describe('an order that was cancelled or expired before a method was chosen', () => {
  it.each(['cancel', 'expire'] as const)(
    'after %s its page says so and takes no payment',
    async (operation) => {
      const payment = await openPayment();
      expect(await (await gatewayOf(service))[operation](payment.orderId)).toBeNull();
      const { text } = await payment.page();
      expect(text).toContain(`<h1 id="state">${operation}</h1>`);
      expect(text).not.toContain('<form');
      expect((await payment.view()).actions).toEqual([]);
      await payment.act('gopay', 409);
      expect((await payment.view()).notifications).toEqual([]);
      expect(await (await gatewayOf(service)).status(payment.orderId)).toBeNull();
    },
  );
});

describe('the way back to the shop', () => {
  const SHOP = 'http://localhost:5173';
  const shown = (path: string, referer: string): Promise<string> =>
    new Client(service.url)
      .get(path)
      .set('Referer', referer)
      .expect(200)
      .then(({ text }) => text);

  it('is the page that led to the payment, if the shop may call the service', async () => {
    const { path } = await openPayment();
    expect(await shown(path, `${SHOP}/orders/1`)).toContain(`<a href="${SHOP}/">Back to the shop</a>`);
  });

  it('is not offered to a page of another site, or to the payment page itself', async () => {
    const { path } = await openPayment();
    expect(await shown(path, 'https://elsewhere.example/')).not.toContain('Back to the shop');
    expect(await shown(path, service.url + path)).not.toContain('Back to the shop');
  });
});

describe('the simulator as a payment gateway', () => {
  it('refuses an order id that was used before, also when it comes twice at once', async () => {
    const { GatewayRefusedError } = await built('src/gateway/payment-gateway.js');
    const gateway = await gatewayOf(service);
    const request = requestOf(randomUUID());
    const results = await Promise.allSettled([1, 2, 3].map(() => gateway.createTransaction(request)));
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused).toHaveLength(2);
    for (const { reason } of refused) {
      expect(reason).toBeInstanceOf(GatewayRefusedError);
      expect(reason).toHaveProperty('isOrderIdTaken', true);
    }
  });

  it.each([
    ['items that add up to another amount', { grossAmount: 185_001 }],
    ['a part of a rupiah', { grossAmount: 0.5, items: [{ id: '1', name: 'x', price: 0.5, quantity: 1 }] }],
  ])('refuses %s', async (_, fields) => {
    const { GatewayRefusedError } = await built('src/gateway/payment-gateway.js');
    const gateway = await gatewayOf(service);
    await expect(gateway.createTransaction(requestOf(randomUUID(), fields))).rejects.toBeInstanceOf(
      GatewayRefusedError,
    );
  });

  it('knows nothing of a payment before a method is chosen', async () => {
    const { orderId } = await openPayment();
    const gateway = await gatewayOf(service);
    for (const id of [orderId, randomUUID()]) {
      expect(await gateway.status(id)).toBeNull();
      expect(await gateway.cancel(id)).toBeNull();
      expect(await gateway.expire(id)).toBeNull();
    }
  });

  it('cancels and expires a pending payment and notifies of it; refuses after settlement', async () => {
    const { GatewayRefusedError } = await built('src/gateway/payment-gateway.js');
    const gateway = await gatewayOf(service);
    const [cancelled, expired, paid] = await Promise.all([openPayment(), openPayment(), openPayment()]);
    await cancelled.act('bank-transfer');
    await expired.act('bank-transfer');
    await paid.act('gopay');

    expect(await gateway.cancel(cancelled.orderId)).toMatchObject({
      transactionStatus: 'cancel',
      statusCode: '200',
    });
    expect(await gateway.expire(expired.orderId)).toMatchObject({
      transactionStatus: 'expire',
      statusCode: '407',
    });
    await expect(gateway.cancel(paid.orderId)).rejects.toBeInstanceOf(GatewayRefusedError);
    await expect(gateway.expire(paid.orderId)).rejects.toBeInstanceOf(GatewayRefusedError);

    await until('the orders hear of it', async () => {
      const statuses = await Promise.all([cancelled, expired].map((payment) => payment.order()));
      return statuses[0]?.status === 'cancel' && statuses[1]?.status === 'expire';
    });
  });

  it('after 24 hours a pending payment expires, a page without a payment takes none, and a paid one stays', async () => {
    const payments = await Promise.all([openPayment(), openPayment(), openPayment()]);
    const [pending, fresh, paid] = payments;
    await pending.act('bank-transfer');
    await paid.act('gopay');
    const { pool } = service.database;
    const orderIds = payments.map(({ orderId }) => orderId);
    const { rowCount } = await pool.query(
      `UPDATE graphile_worker._private_jobs SET run_at = now()
       WHERE payload ->> 'orderId' = ANY($1) AND run_at BETWEEN now() + interval '23 hours 59 minutes' AND now() + interval '1 day'`,
      [orderIds],
    );
    expect(rowCount).toBe(3);
    await until('the order expires', async () => (await pending.order()).status === 'expire');
    await until('the jobs are done', async () => {
      const jobs = `SELECT FROM graphile_worker._private_jobs WHERE payload ->> 'orderId' = ANY($1)`;
      return (await pool.query(jobs, [orderIds])).rowCount === 0;
    });
    expect((await fresh.page()).text).toContain('<h1 id="state">expire</h1>');
    await fresh.act('gopay', 409);
    expect((await fresh.view()).notifications).toEqual([]);
    expect((await paid.view()).transaction_status).toBe('settlement');
  });
});

describe('the page', () => {
  it('shows the order and its sum in rupiah, and every value as text, hostile ones too', async () => {
    const hostile = `<script>alert('&"')</script>{{constructor}}`;
    const payment = await openPayment(service, {
      items: [{ id: '1', name: hostile, price: 185_000, quantity: 1 }],
      customer: { fullname: `${hostile}"><img src=x onerror=alert(1)>`, email: '"<b>"@example.com' },
    });
    await payment.act('gopay');
    const { text } = await payment.page();
    expect(text).toContain(payment.orderId);
    expect(text).toContain('Rp\u00a0185.000');
    expect(text).not.toContain('<script');
    expect(text).not.toContain('<img');
    expect(text).not.toContain('<b>');
    expect(text).toContain('&lt;script&gt;alert(&#x27;&amp;&quot;&#x27;)&lt;/script&gt;{{constructor}}');
  });

  it('runs no script, loads nothing, and lets its forms name their origin to the origin check', async () => {
    const payment = await openPayment();
    const { headers, text } = await payment.page();
    const style = /<style>([\s\S]*)<\/style>/.exec(text)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(headers['content-security-policy']).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    );
    expect(headers['referrer-policy']).toBe('same-origin');
    expect(headers['cache-control']).toBe('no-store');
    expect(text).not.toMatch(/\s(style|on\w+)=/);
    await new Client(service.url)
      .post(`${payment.path}/gopay`)
      .set('Origin', 'https://elsewhere.example')
      .expect(403);
    await new Client(service.url).post(`${payment.path}/gopay`).set('Origin', service.url).expect(303);
  });
});

describe('the simulator does not exist with another gateway or in production', () => {
  it('its page is an unknown path then, also for a token that it gave before', async () => {
    const database = await createDatabase();
    const before = await startAtPublicUrl({ database });
    const payment = await openPayment(before).finally(() => before.stop());
    const after = await startAtPublicUrl({ database, settings: { PAYMENT_GATEWAY: 'midtrans' } });
    try {
      const client = new Client(after.url);
      const unknown = await client.get('/api/no-such-path').expect(404);
      expect((await client.get(payment.path).expect(404)).body).toEqual(unknown.body);
      expect((await client.post(`${payment.path}/gopay`).expect(404)).body).toEqual(unknown.body);
    } finally {
      await after.stop();
      await database.drop();
    }
  });
});
