import { randomUUID } from 'node:crypto';
import type { Response } from 'supertest';
import type { Language } from '../src/common/languages.js';
import { PAGE_TEXTS } from '../src/gateway/simulator/page-texts.js';
import { Client } from './support/client.js';
import { expectFailure } from './support/failure.js';
import { makeJobsDue, readJobs } from './support/jobs.js';
import { readHistory } from './support/notifications.js';
import { placeOrder, readOrder } from './support/orders.js';
import { freePort } from './support/process.js';
import { addProduct } from './support/products.js';
import { useService, withService } from './support/service.js';
import { sortedStatusesOf, until } from './support/wait.js';

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
/** Origin of a storefront. Outside of production, the service accepts localhost and 127.0.0.1 at every port. */
const SHOP = 'http://localhost:5173';
const FULLY_REFUNDED = { status: 'refund', refunded_amount: 185_000 };

const port = await freePort();
// The simulator sends its notifications to PUBLIC_URL.
const service = await useService({ port, settings: { PUBLIC_URL: `http://127.0.0.1:${port}` } });
const customer = await service.customer();
const admin = await service.admin();
const productId = await addProduct(service, 185_000, 'Kue lapis');

/** Places an order. The returned functions use its payment page, and read or refund the order. */
async function openPaymentPage(by: Client = customer, product = productId) {
  const items = [{ product_id: product, quantity: 1 }];
  const { order_id: orderId, redirect_url: url } = await placeOrder(by, items);
  const path = new URL(url ?? '').pathname;
  const anyone = service.client();
  const viewOf = ({ body }: Response): PaymentView => (body as { data: PaymentView }).data;
  const view = async () => viewOf(await anyone.get(path).set('Accept', 'application/json').expect(200));
  /** Posts an action like a script, which accepts JSON. */
  const post = (action: string, status = 200) =>
    anyone.post(`${path}/${action}`).set('Accept', 'application/json').expect(status);
  return {
    orderId,
    path,
    html: async () => (await anyone.get(path).set('Accept', 'text/html').expect(200)).text,
    view,
    /** Returns the service's responses to the simulator's notifications, oldest first. */
    responses: async () => (await view()).notifications.map(({ answer }) => answer),
    /** Performs actions one after another, each for the latest transaction. */
    act: async (...actions: readonly string[]) => {
      for (const action of actions) await post(action);
    },
    /** Performs an action for a transaction. */
    actOn: (transactionId: string, action: string, status?: number) =>
      post(`transactions/${transactionId}/${action}`, status),
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
    const page = await openPaymentPage();
    const form = /<form method="post" action="([^"]*\/qris)">/.exec(await page.html());
    const posted = await service
      .client()
      .post(form?.[1] ?? '')
      .expect(303);
    expect(posted.headers.location).toBe(page.path);
    expect(await page.order()).toMatchObject({
      status: 'settlement',
      payment_type: 'qris',
      completed_at: expect.any(String) as string,
    });
    const html = await page.html();
    expect(html).toContain('HTTP 200');
    expect(html).toContain('<h1 id="state">settlement</h1>');
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
      const page = await openPaymentPage();
      await page.act(...actions);
      expect(await page.responses()).toEqual(actions.map(() => response));
      await until('the payment is recorded', async () => (await page.order()).status === status);
      expect((await page.order()).refunded_amount).toBe(status === 'refund' ? 185_000 : 0);
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
    const page = await openPaymentPage();
    await page.act('gopay', action);
    expect(await page.responses()).toEqual(['HTTP 200', response]);
    expect(await page.history()).toEqual(history);
    expect((await page.order()).status).toBe('settlement');
    expect(await page.html()).toContain(response);
  },
);

describe('an action that is not possible', () => {
  it('gets 409 with an explanation', async () => {
    const page = await openPaymentPage();
    const { text } = await page.click('settle').expect(409);
    expect(text).toMatch(/role="alert".*does not allow <code>settle<\/code>/);
    const response = await page.click('settle').set('Accept', 'application/json');
    expectFailure(response, 409, 'the payment is in a state that does not allow this');
    expect(await page.responses()).toEqual([]);
  });

  it.each([
    ['', `${METHODS} deny`],
    ['bank-transfer', `${METHODS} settle cancel expire deny fail send-again send-bad-signature`],
    ['card', 'settle refund partial-refund cancel send-again send-late-pending send-bad-signature'],
    ['gopay refund', 'send-again send-late-pending send-bad-signature'],
  ])('is not offered: after "%s" the page offers only %s', async (actions, allowed) => {
    const page = await openPaymentPage();
    await page.act(...actions.split(' ').filter(Boolean));
    expect((await page.view()).actions.join(' ')).toBe(allowed);
    const forms = (await page.html()).matchAll(/<form method="post" action="[^"]*\/([^"/]+)">/g);
    expect(new Set([...forms].map(([, name]) => name))).toEqual(new Set(allowed.split(' ')));
  });

  it('gets 404 if its name or its page is unknown', async () => {
    const page = await openPaymentPage();
    const client = service.client();
    for (const token of [randomUUID(), '%00', page.orderId])
      await client.get(`/api/simulator/${token}`).expect(404);
    await client.post(`/api/simulator/${randomUUID()}/card`).expect(404);
    await page.click('bribe').expect(404);
    await page.click('constructor').expect(404);
  });
});

describe('a payment at the simulator', () => {
  it('is started by one of ten parallel clicks on payment methods', async () => {
    const page = await openPaymentPage();
    const methods = Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? 'gopay' : 'card'));
    const responses = await Promise.all(methods.map((method) => page.click(method)));
    expect(sortedStatusesOf(responses)).toEqual([303, ...Array<number>(9).fill(409)]);
    expect(await page.responses()).toHaveLength(1);
  });

  it('cannot be started on the page of a cancelled order', async () => {
    const page = await openPaymentPage();
    await customer.post(`/api/orders/${page.orderId}/cancel`).expect(200);
    const text = await page.html();
    expect(text).toContain('<h1 id="state">cancel</h1>');
    expect(text).not.toContain('<form');
    expect((await page.view()).actions).toEqual([]);
    await page.click('gopay').expect(409);
    expect(await page.responses()).toEqual([]);
  });

  it('is cancelled with its order, and the service is notified', async () => {
    const page = await openPaymentPage();
    await page.act('bank-transfer');
    await customer.post(`/api/orders/${page.orderId}/cancel`).expect(200);
    expect((await page.view()).transaction_status).toBe('cancel');
    await until('the notification is stored', async () =>
      (await readHistory(service, page.orderId)).some(
        ({ source, transaction_status }) => source === 'notification' && transaction_status === 'cancel',
      ),
    );
  });

  it('expires after 24 hours unless it is paid', async () => {
    const pages = await Promise.all([openPaymentPage(), openPaymentPage(), openPaymentPage()]);
    const [pending, unused, paid] = pages;
    await pending.act('bank-transfer');
    await paid.act('gopay');
    const { pool } = service.database;
    // Each payment page has a job that runs after 24 hours and lets an unpaid payment expire.
    const readExpiries = async () =>
      (await readJobs(pool, 'simulator-expire')).filter((job) =>
        pages.some(({ orderId }) => orderId === job.payload.orderId),
      );
    const hours = (await readExpiries()).map(({ due_in }) => due_in / 3_600);
    expect(hours.map(Math.round)).toEqual([24, 24, 24]);
    await makeJobsDue(pool);
    await until('the order expires', async () => (await pending.order()).status === 'expire');
    await until('the jobs are done', async () => (await readExpiries()).length === 0);
    expect(await unused.html()).toContain('<h1 id="state">expire</h1>');
    await unused.click('gopay').expect(409);
    expect(await unused.responses()).toEqual([]);
    expect((await paid.view()).transaction_status).toBe('settlement');
  });
});

/** Starts a bank transfer, which stays pending, and pays with GoPay. */
async function startTwoTransactions() {
  const page = await openPaymentPage();
  await page.act('bank-transfer', 'gopay');
  const [first, second] = (await page.view()).transactions;
  if (first === undefined || second === undefined)
    throw new Error('the page does not show both transactions');
  return { ...page, first: first.transaction_id, second: second.transaction_id };
}

describe('a payment page with several transactions', () => {
  it('lets the customer pay with another method after a denied or a pending one', async () => {
    const page = await openPaymentPage();
    await page.act('deny', 'bank-transfer', 'qris');
    expect(await page.describeTransactions()).toEqual([
      'credit_card deny',
      'bank_transfer pending',
      'qris settlement',
    ]);
    expect((await page.view()).transaction_status).toBe('settlement');
    await page.click('gopay').expect(409);
  });

  it('offers the actions of an earlier transaction', async () => {
    const { first, ...page } = await startTwoTransactions();
    expect(await page.html()).toContain(`action="${page.path}/transactions/${first}/settle"`);
    for (const action of ['settle', 'send-again', 'send-late-pending']) await page.actOn(first, action);
    await page.actOn(first, 'gopay', 409);
    await page.actOn(randomUUID(), 'settle', 409);
    expect(await page.describeTransactions()).toEqual(['bank_transfer settlement', 'gopay settlement']);
    const notified = (await readHistory(service, page.orderId)).filter(
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
    const page = await openPaymentPage();
    await page.act('bank-transfer', 'convenience-store');
    await customer.post(`/api/orders/${page.orderId}/cancel`).expect(200);
    expect(await page.describeTransactions()).toEqual(['bank_transfer cancel', 'cstore cancel']);
  });

  it('refunds the transaction that the administrator names', async () => {
    const { first, second, ...page } = await startTwoTransactions();
    await page.actOn(first, 'settle');
    await page.refund({ transaction_id: first }, 409); // The simulator does not refund bank transfers.
    await page.refund({ transaction_id: second });
    expect(await page.describeTransactions()).toEqual(['bank_transfer settlement', 'gopay refund']);
  });

  it('accepts at most ten transactions', async () => {
    const page = await openPaymentPage();
    const clicks = Array.from({ length: 15 }, () => page.click('bank-transfer'));
    expect(sortedStatusesOf(await Promise.all(clicks))).toEqual([
      ...Array<number>(10).fill(303),
      ...Array<number>(5).fill(409),
    ]);
  });
});

describe('the link back to the shop', () => {
  const LINK = `<a href="${SHOP}/">Back to the shop</a>`;

  it('is not offered to any other site', async () => {
    const { path } = await openPaymentPage();
    const browser = service.client();
    for (const opened of [
      browser.get(path).set('Referer', 'https://elsewhere.example/'),
      browser.get(path).set('Referer', service.url + path),
      browser.get(`${path}?shop=${encodeURIComponent('https://elsewhere.example')}`),
    ])
      expect((await opened.expect(200)).text).not.toContain('Back to the shop');
  });

  it('leads to the shop that linked to the page, also after paying', async () => {
    const { path } = await openPaymentPage();
    const browser = service.client();
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
  it('by an administrator appears on the payment page, and the simulator notifies the service', async () => {
    const page = await openPaymentPage();
    await page.act('gopay');
    await page.refund({ amount: 50_000, reason: 'One slice was burnt' });
    await until('the notification has a response', async () => (await page.responses()).length === 2);
    expect(await page.order()).toMatchObject({ status: 'partial_refund', refunded_amount: 50_000 });
    expect((await page.html()).replaceAll('\u00a0', ' ')).toContain('(refunded: Rp 50.000)');
    await page.refund({});
    expect(await page.order()).toMatchObject(FULLY_REFUNDED);
    await page.refund({}, 409);
  });

  it('is made once, even if the service stops before it stores the result', async () => {
    const page = await openPaymentPage();
    await page.act('gopay');
    await page.refund({ amount: 50_000 });
    await service.database.query("UPDATE refunds SET state = 'requested' WHERE order_id = $1", [
      page.orderId,
    ]);
    await page.refund({ amount: 50_000 });
    expect((await page.view()).refunded_amount).toBe(50_000);
  });
});

/** Returns all texts of the payment page, except for one that the page shows only until the service has responded. */
function listTexts(language: Language): string[] {
  const { noResponse: _, title, refunded, order, actions, ...sentences } = PAGE_TEXTS[language];
  const labels = Object.values(actions).map((label) => `<button>${label}</button>`);
  return [`${title}</title>`, `(${refunded}: `, `<h2>${order} `, ...labels, ...Object.values(sentences)];
}

describe('the payment page', () => {
  it('escapes all values of the order', async () => {
    const hostile = `<script>alert('&"')</script>{{constructor}}`;
    const hostileCustomer = service.client();
    const fullname = `${hostile}"><img src=x onerror=alert(1)>`;
    await hostileCustomer.register({ email: 'hostile@example.com', fullname }).expect(201);
    const page = await openPaymentPage(hostileCustomer, await addProduct(service, 185_000, hostile));
    await page.act('gopay');
    const text = await page.html();
    expect(text).toContain(page.orderId);
    expect(text).toContain('Rp\u00a0185.000');
    expect(text).not.toContain('<script');
    expect(text).not.toContain('<img');
    expect(text).toContain('&lt;script&gt;alert(&#x27;&amp;&quot;&#x27;)&lt;/script&gt;{{constructor}}');
  });

  it('is protected by its headers: no cache, no referrer for other origins', async () => {
    const { path } = await openPaymentPage();
    const { headers, text } = await service.client().get(path).set('Accept', 'text/html').expect(200);
    expect(headers['referrer-policy']).toBe('same-origin');
    expect(headers['cache-control']).toBe('no-store');
    expect(text).not.toMatch(/\s(style|on\w+)=/);
  });

  it.each([
    ['id-ID,id;q=0.9,en;q=0.8', 'id', 'en'],
    ['en-GB,id;q=0.5', 'en', 'id'],
    ['de', 'en', 'id'],
  ] as const)(
    'for Accept-Language %s has all texts in the language %s and none in %s',
    async (header, language, otherLanguage) => {
      const [unpaid, reserved, paid] = [
        await openPaymentPage(),
        await openPaymentPage(),
        await startTwoTransactions(),
      ];
      const browser = service.client();
      const open = async ({ path }: { readonly path: string }) =>
        (await browser.get(`${path}?shop=${SHOP}`).set('Accept-Language', header).expect(200)).text;
      await reserved.click('card-authorize').expect(303);
      const pages = [await open(unpaid), await open(reserved), await open(paid)];
      await paid.click('partial-refund').expect(303);
      pages.push(await open(paid));
      pages.push((await unpaid.click('settle').set('Accept-Language', header).expect(409)).text);
      for (const page of pages) expect(page).toContain(`<html lang="${language}">`);
      const all = pages.join('\n');
      expect(listTexts(language).filter((text) => !all.includes(text))).toEqual([]);
      expect(listTexts(otherLanguage).filter((text) => all.includes(text))).toEqual([]);
    },
  );

  it('does not exist if another gateway is configured', async () => {
    const { path } = await openPaymentPage();
    const { database } = service;
    await withService({ database, settings: { PAYMENT_GATEWAY: 'midtrans' } }, async (other) => {
      const unknown = await other.client().get('/api/no-such-path').expect(404);
      expect((await other.client().get(path).expect(404)).body).toEqual(unknown.body);
      expect((await other.client().post(`${path}/gopay`).expect(404)).body).toEqual(unknown.body);
    });
  });
});
