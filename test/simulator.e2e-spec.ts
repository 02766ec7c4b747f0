import { createHash, randomUUID } from 'node:crypto';
import type { Response } from 'supertest';
import { sortedStatusesOf } from './support/accounts.js';
import { Client } from './support/client.js';
import { expectFailure } from './support/failure.js';
import { makeJobsDue, readJobs } from './support/jobs.js';
import { readHistory } from './support/notifications.js';
import { addProduct, placeOrder, readOrder } from './support/orders.js';
import { freePort } from './support/process.js';
import { useService, withService } from './support/service.js';
import { until } from './support/wait.js';

interface PaymentView {
  readonly transaction_status: string | null;
  readonly refunded_amount: number;
  readonly actions: readonly string[];
  readonly transactions: readonly {
    readonly transaction_id: string;
    readonly payment_type: string;
    readonly transaction_status: string;
    readonly actions: readonly string[];
  }[];
  readonly notifications: readonly { readonly answer: string | null }[];
}

const METHODS = 'card card-authorize gopay qris bank-transfer convenience-store';
const FULLY_REFUNDED = { status: 'refund', refunded_amount: 185_000 };

const port = await freePort();
// The simulator sends its notifications to PUBLIC_URL.
const service = await useService({ listenOn: port, settings: { PUBLIC_URL: `http://127.0.0.1:${port}` } });
const customer = await service.customer();
const admin = await service.admin();
const productId = await addProduct(service, 185_000, 'Kue lapis');

/** Places an order. The returned functions use its payment page, and read or refund the order. */
async function createPayment(by: Client = customer, product = productId) {
  const items = [{ product_id: product, quantity: 1 }];
  const { order_id: orderId, redirect_url: url } = await placeOrder(by, items);
  const path = new URL(url ?? '').pathname;
  const anyone = new Client(by.url);
  const viewOf = ({ body }: Response): PaymentView => (body as { data: PaymentView }).data;
  const view = async () => viewOf(await anyone.get(path).set('Accept', 'application/json').expect(200));
  /** Posts an action like a script, which accepts JSON. */
  const act = (action: string, status = 200) =>
    anyone.post(`${path}/${action}`).set('Accept', 'application/json').expect(status);
  return {
    orderId,
    path,
    page: async () => (await anyone.get(path).set('Accept', 'text/html').expect(200)).text,
    view,
    /** Returns the service's responses to the simulator's notifications, oldest first. */
    responses: async () => (await view()).notifications.map(({ answer }) => answer),
    /** Performs actions one after another, each for the latest transaction. */
    act: async (...actions: readonly string[]) => {
      for (const action of actions) await act(action);
    },
    /** Performs an action for a transaction. */
    actOn: (transactionId: string, action: string, status?: number) =>
      act(`transactions/${transactionId}/${action}`, status),
    /** Transactions as `payment_type transaction_status`, oldest first. */
    describeTransactions: async () =>
      (await view()).transactions.map((each) => `${each.payment_type} ${each.transaction_status}`),
    /** Posts an action like a browser. */
    click: (action: string) => anyone.post(`${path}/${action}`),
    order: () => readOrder(by, orderId),
    refund: (body: object, status = 200) =>
      admin.post(`/api/admin/orders/${orderId}/refund`).send(body).expect(status),
    /** Payment history as `status outcome`, oldest first. */
    history: async () =>
      (await readHistory(service, orderId)).map(
        ({ transaction_status, outcome }) => `${transaction_status ?? '?'} ${outcome}`,
      ),
  };
}

describe('actions on the payment page', () => {
  it('pay the order with one click', async () => {
    const payment = await createPayment();
    const form = /<form method="post" action="([^"]*\/qris)">/.exec(await payment.page());
    const posted = await new Client(service.url).post(form?.[1] ?? '').expect(303);
    expect(posted.headers.location).toBe(payment.path);
    expect(await payment.order()).toMatchObject({
      status: 'settlement',
      payment_type: 'qris',
      completed_at: expect.any(String) as string,
    });
    const page = await payment.page();
    expect(page).toContain('HTTP 200');
    expect(page).toContain('<h1 id="state">settlement</h1>');
  });

  it.each([
    [['bank-transfer', 'settle'], 'settlement'],
    [['bank-transfer', 'fail'], 'failure'],
    [['card-authorize', 'capture', 'settle'], 'settlement'],
    [['gopay', 'partial-refund', 'refund'], 'refund'],
    [['gopay', 'deny'], 'deny'],
    [['deny', 'card'], 'capture'],
    // Notifications of this method have no fraud_status. The service rejects them and requests the status instead.
    [['convenience-store', 'settle'], 'settlement', 'HTTP 400'],
  ])(
    '%j each send a notification, and lead to the status %s',
    async (actions, status, response = 'HTTP 200') => {
      const payment = await createPayment();
      await payment.act(...actions);
      expect(await payment.responses()).toEqual(actions.map(() => response));
      await until('the payment is recorded', async () => (await payment.order()).status === status);
      expect((await payment.order()).refunded_amount).toBe(status === 'refund' ? 185_000 : 0);
    },
  );
});

it.each([
  ['send-again', 'HTTP 200', ['settlement applied', 'settlement duplicate']],
  ['send-late-pending', 'HTTP 200', ['settlement applied', 'pending late']],
  ['send-bad-signature', 'HTTP 403', ['settlement applied']],
])(
  'after a payment, the action %s gets the response %s, and the order stays paid',
  async (action, response, history) => {
    const payment = await createPayment();
    await payment.act('gopay', action);
    expect(await payment.responses()).toEqual(['HTTP 200', response]);
    expect(await payment.history()).toEqual(history);
    expect((await payment.order()).status).toBe('settlement');
    expect(await payment.page()).toContain(response);
  },
);

describe('an action that is not possible', () => {
  it('gets 409 with an explanation', async () => {
    const payment = await createPayment();
    const { text } = await payment.click('settle').expect(409);
    expect(text).toMatch(/role="alert".*does not allow <code>settle<\/code>/);
    const response = await payment.click('settle').set('Accept', 'application/json');
    expectFailure(response, 409, 'the payment is in a state that does not allow this');
    expect(await payment.responses()).toEqual([]);
  });

  it.each([
    ['', `${METHODS} deny`],
    ['bank-transfer', `${METHODS} settle cancel expire deny fail send-again send-bad-signature`],
    ['card', 'settle refund partial-refund cancel send-again send-late-pending send-bad-signature'],
    ['gopay refund', 'send-again send-late-pending send-bad-signature'],
  ])('is not offered: after "%s" the page offers only %s', async (actions, allowed) => {
    const payment = await createPayment();
    await payment.act(...actions.split(' ').filter(Boolean));
    expect((await payment.view()).actions.join(' ')).toBe(allowed);
    const forms = (await payment.page()).matchAll(/<form method="post" action="[^"]*\/([^"/]+)">/g);
    expect(new Set([...forms].map(([, name]) => name))).toEqual(new Set(allowed.split(' ')));
  });

  it('gets 404 if its name or its page is unknown', async () => {
    const payment = await createPayment();
    const client = new Client(service.url);
    for (const token of [randomUUID(), '%00', payment.orderId])
      await client.get(`/api/simulator/${token}`).expect(404);
    await client.post(`/api/simulator/${randomUUID()}/card`).expect(404);
    await payment.click('bribe').expect(404);
    await payment.click('constructor').expect(404);
  });
});

describe('a payment at the simulator', () => {
  it('is started by one of ten parallel clicks on payment methods', async () => {
    const payment = await createPayment();
    const methods = Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? 'gopay' : 'card'));
    const responses = await Promise.all(methods.map((method) => payment.click(method)));
    expect(sortedStatusesOf(responses)).toEqual([303, ...Array<number>(9).fill(409)]);
    expect(await payment.responses()).toHaveLength(1);
  });

  it('cannot be started on the page of a cancelled order', async () => {
    const payment = await createPayment();
    await customer.post(`/api/orders/${payment.orderId}/cancel`).expect(200);
    const text = await payment.page();
    expect(text).toContain('<h1 id="state">cancel</h1>');
    expect(text).not.toContain('<form');
    expect((await payment.view()).actions).toEqual([]);
    await payment.click('gopay').expect(409);
    expect(await payment.responses()).toEqual([]);
  });

  it('is cancelled with its order, and notified', async () => {
    const payment = await createPayment();
    await payment.act('bank-transfer');
    await customer.post(`/api/orders/${payment.orderId}/cancel`).expect(200);
    expect((await payment.view()).transaction_status).toBe('cancel');
    await until('the notification is stored', async () =>
      (await readHistory(service, payment.orderId)).some(
        ({ source, transaction_status }) => source === 'notification' && transaction_status === 'cancel',
      ),
    );
  });

  it('expires after 24 hours unless it is paid', async () => {
    const payments = await Promise.all([createPayment(), createPayment(), createPayment()]);
    const [pending, unused, paid] = payments;
    await pending.act('bank-transfer');
    await paid.act('gopay');
    const { pool } = service.database;
    // Each payment page has a job that runs after 24 hours and lets an unpaid payment expire.
    const readExpiries = async () =>
      (await readJobs(pool, 'simulator-expire')).filter((job) =>
        payments.some(({ orderId }) => orderId === job.payload.orderId),
      );
    const hours = (await readExpiries()).map(({ due_in }) => due_in / 3_600);
    expect(hours.map(Math.round)).toEqual([24, 24, 24]);
    await makeJobsDue(pool);
    await until('the order expires', async () => (await pending.order()).status === 'expire');
    await until('the jobs are done', async () => (await readExpiries()).length === 0);
    expect(await unused.page()).toContain('<h1 id="state">expire</h1>');
    await unused.click('gopay').expect(409);
    expect(await unused.responses()).toEqual([]);
    expect((await paid.view()).transaction_status).toBe('settlement');
  });
});

/** Pays by bank transfer and with GoPay. The bank transfer stays pending. */
async function payTwice() {
  const payment = await createPayment();
  await payment.act('bank-transfer', 'gopay');
  const [first, second] = (await payment.view()).transactions;
  if (first === undefined || second === undefined)
    throw new Error('the page does not show both transactions');
  return { ...payment, first: first.transaction_id, second: second.transaction_id };
}

describe('a payment page with several transactions', () => {
  it('lets the customer pay with another method after a denied or a pending one', async () => {
    const payment = await createPayment();
    await payment.act('deny', 'bank-transfer', 'qris');
    expect(await payment.describeTransactions()).toEqual([
      'credit_card deny',
      'bank_transfer pending',
      'qris settlement',
    ]);
    expect((await payment.view()).transaction_status).toBe('settlement');
    await payment.click('gopay').expect(409);
  });

  it('offers the actions of an earlier transaction', async () => {
    const { first, ...payment } = await payTwice();
    expect(await payment.page()).toContain(`action="${payment.path}/transactions/${first}/settle"`);
    for (const action of ['settle', 'send-again', 'send-late-pending']) await payment.actOn(first, action);
    await payment.actOn(first, 'gopay', 409);
    await payment.actOn(randomUUID(), 'settle', 409);
    expect(await payment.describeTransactions()).toEqual(['bank_transfer settlement', 'gopay settlement']);
    const notified = (await readHistory(service, payment.orderId)).filter(
      ({ transaction_id }) => transaction_id === first,
    );
    expect(notified.map(({ transaction_status }) => transaction_status)).toEqual([
      'pending',
      'settlement',
      'settlement',
      'pending',
    ]);
  });

  it('cancels all of them when the order is cancelled', async () => {
    const payment = await createPayment();
    await payment.act('bank-transfer', 'convenience-store');
    await customer.post(`/api/orders/${payment.orderId}/cancel`).expect(200);
    expect(await payment.describeTransactions()).toEqual(['bank_transfer cancel', 'cstore cancel']);
  });

  it('refunds the transaction that the administrator names', async () => {
    const { first, second, ...payment } = await payTwice();
    await payment.actOn(first, 'settle');
    await payment.refund({ transaction_id: first }, 409); // The simulator does not refund bank transfers.
    await payment.refund({ transaction_id: second });
    expect(await payment.describeTransactions()).toEqual(['bank_transfer settlement', 'gopay refund']);
  });

  it('accepts at most ten transactions', async () => {
    const payment = await createPayment();
    const clicks = Array.from({ length: 15 }, () => payment.click('bank-transfer'));
    expect(sortedStatusesOf(await Promise.all(clicks))).toEqual([
      ...Array<number>(10).fill(303),
      ...Array<number>(5).fill(409),
    ]);
  });
});

describe('the link back to the shop', () => {
  // Outside of production, pages of http://localhost and http://127.0.0.1 may be the shop, at any port.
  const SHOP = 'http://localhost:5173';
  const LINK = `<a href="${SHOP}/">Back to the shop</a>`;

  it('is not offered to any other site', async () => {
    const { path } = await createPayment();
    const browser = new Client(service.url);
    for (const opened of [
      browser.get(path).set('Referer', 'https://elsewhere.example/'),
      browser.get(path).set('Referer', service.url + path),
      browser.get(`${path}?shop=${encodeURIComponent('https://elsewhere.example')}`),
    ])
      expect((await opened.expect(200)).text).not.toContain('Back to the shop');
  });

  it('leads to the shop that linked to the page, also after paying', async () => {
    const { path } = await createPayment();
    const browser = new Client(service.url);
    const first = await browser.get(path).set('Referer', `${SHOP}/orders/1`).expect(200);
    expect(first.text).toContain(LINK);
    const [, action = ''] = /<form method="post" action="([^"]*\/qris[^"]*)">/.exec(first.text) ?? [];
    const unescaped = action.replaceAll('&amp;', '&').replaceAll('&#x3D;', '=');
    const referer = service.url + path;
    const posted = await browser.post(unescaped).set('Referer', referer).expect(303);
    const paid = await browser.get(posted.headers.location ?? '').set('Referer', referer);
    expect(paid.text).toContain('<h1 id="state">settlement</h1>');
    expect(paid.text).toContain(LINK);
  });
});

describe('a refund', () => {
  it('by an administrator is shown on the page and notified', async () => {
    const payment = await createPayment();
    await payment.act('gopay');
    await payment.refund({ amount: 50_000, reason: 'One slice was burnt' });
    await until('the notification has a response', async () => (await payment.responses()).length === 2);
    expect(await payment.order()).toMatchObject({ status: 'partial_refund', refunded_amount: 50_000 });
    expect((await payment.page()).replaceAll('\u00a0', ' ')).toContain('(refunded: Rp 50.000)');
    await payment.refund({});
    expect(await payment.order()).toMatchObject(FULLY_REFUNDED);
    await payment.refund({}, 409);
  });

  it('is made once if its process ended without storing the result', async () => {
    const payment = await createPayment();
    await payment.act('gopay');
    await payment.refund({ amount: 50_000 });
    await service.database.query("UPDATE refunds SET state = 'requested' WHERE order_id = $1", [
      payment.orderId,
    ]);
    await payment.refund({ amount: 50_000 });
    expect((await payment.view()).refunded_amount).toBe(50_000);
  });
});

describe('the payment page', () => {
  it('escapes all values of the order', async () => {
    const hostile = `<script>alert('&"')</script>{{constructor}}`;
    const hostileCustomer = service.client();
    const fullname = `${hostile}"><img src=x onerror=alert(1)>`;
    await hostileCustomer.register({ email: 'hostile@example.com', fullname }).expect(201);
    const payment = await createPayment(hostileCustomer, await addProduct(service, 185_000, hostile));
    await payment.act('gopay');
    const text = await payment.page();
    expect(text).toContain(payment.orderId);
    expect(text).toContain('Rp\u00a0185.000');
    expect(text).not.toContain('<script');
    expect(text).not.toContain('<img');
    expect(text).toContain('&lt;script&gt;alert(&#x27;&amp;&quot;&#x27;)&lt;/script&gt;{{constructor}}');
  });

  it('is protected by its headers: no resource but its own style, no cache, no referrer for other origins', async () => {
    const { path } = await createPayment();
    const { headers, text } = await service.client().get(path).set('Accept', 'text/html').expect(200);
    const style = /<style>([\s\S]*)<\/style>/.exec(text)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(headers['content-security-policy']).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    );
    expect(headers['referrer-policy']).toBe('same-origin');
    expect(headers['cache-control']).toBe('no-store');
    expect(text).not.toMatch(/\s(style|on\w+)=/);
  });

  it('rejects a form that another origin sends', async () => {
    const { click } = await createPayment();
    await click('gopay').set('Origin', 'https://elsewhere.example').expect(403);
    await click('gopay').set('Origin', service.url).expect(303);
  });

  it('does not exist if another gateway is configured', async () => {
    const { path } = await createPayment();
    const { database } = service;
    await withService({ database, settings: { PAYMENT_GATEWAY: 'midtrans' } }, async (other) => {
      const unknown = await other.client().get('/api/no-such-path').expect(404);
      expect((await other.client().get(path).expect(404)).body).toEqual(unknown.body);
      expect((await other.client().post(`${path}/gopay`).expect(404)).body).toEqual(unknown.body);
    });
  });
});
