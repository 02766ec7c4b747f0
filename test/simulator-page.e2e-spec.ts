import { randomUUID } from 'node:crypto';
import { PAGE_TEXTS } from '../src/gateway/simulator/page-texts.js';
import { expectFailure } from './support/failure.js';
import { insertProduct } from './support/products.js';
import { useService } from './support/service.js';
import { useSimulator } from './support/simulator.js';

const METHODS = 'card card-authorize gopay qris bank-transfer convenience-store';
/** Origin of a storefront. Outside of production, the service accepts localhost and 127.0.0.1 at every port. */
const SHOP = 'http://localhost:5173';

const { service, openPaymentPage } = await useSimulator();

describe('an action that is not possible', () => {
  it('gets 409', async () => {
    const page = await openPaymentPage();
    const message = 'the payment is in a state that does not allow this';
    expectFailure(await page.clickAction('settle'), 409, message);
    expect(await page.readNotificationResponses()).toEqual([]);
  });

  it.each([
    ['', `${METHODS} deny`],
    ['bank-transfer', `${METHODS} settle cancel expire deny fail send-again send-bad-signature`],
    ['card', 'settle refund partial-refund cancel send-again send-late-pending send-bad-signature'],
    ['gopay refund', 'send-again send-late-pending send-bad-signature'],
  ])('is not offered: after "%s" the page offers only %s', async (actions, allowed) => {
    const page = await openPaymentPage();
    await page.postActions(...actions.split(' ').filter(Boolean));
    expect((await page.readView()).actions.join(' ')).toBe(allowed);
    const forms = (await page.readHtml()).matchAll(/<form method="post" action="[^"]*\/([^"/]+)">/g);
    expect(new Set([...forms].map(([, name]) => name))).toEqual(new Set(allowed.split(' ')));
  });

  it('gets 404 if its name or its page is unknown', async () => {
    const page = await openPaymentPage();
    const client = service.client();
    for (const token of [randomUUID(), '%00', page.orderId])
      await client.get(`/api/simulator/${token}`).expect(404);
    await client.post(`/api/simulator/${randomUUID()}/card`).expect(404);
    await page.clickAction('bribe').expect(404);
    await page.clickAction('constructor').expect(404);
  });
});

describe('the link back to the shop', () => {
  const LINK = `<a href="${SHOP}/">Back to the shop</a>`;

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

describe('the payment page', () => {
  it('escapes all values of the order', async () => {
    const hostile = `<script>alert('&"')</script>{{constructor}}`;
    const hostileCustomer = service.client();
    const fullname = `${hostile}"><img src=x onerror=alert(1)>`;
    await hostileCustomer.register({ email: 'hostile@example.com', fullname }).expect(201);
    const page = await openPaymentPage(hostileCustomer, await insertProduct(service, 185_000, hostile));
    await page.postActions('gopay');
    const text = await page.readHtml();
    expect(text).toContain(page.orderId);
    expect(text).toContain('Rp\u00a0185.000');
    expect(text).not.toContain('<script');
    expect(text).not.toContain('<img');
    expect(text).toContain('&lt;script&gt;alert(&#x27;&amp;&quot;&#x27;)&lt;/script&gt;{{constructor}}');
  });

  it.each([
    ['id-ID,id;q=0.9,en;q=0.8', 'id'],
    ['en-GB,id;q=0.5', 'en'],
    ['de', 'en'],
  ] as const)('for Accept-Language %s is in the language %s', async (header, language) => {
    const { path } = await openPaymentPage();
    const { text } = await service.client().get(path).set('Accept-Language', header).expect(200);
    expect(text).toContain(`<html lang="${language}">`);
    const { title, order, actions } = PAGE_TEXTS[language];
    for (const shown of [title, order, actions.qris]) expect(text).toContain(shown);
  });

  it('does not exist if another gateway is configured', async () => {
    const { path } = await openPaymentPage();
    const { database } = service;
    const other = await useService({ database, settings: { PAYMENT_GATEWAY: 'midtrans' } });
    const unknown = await other.client().get('/api/no-such-path').expect(404);
    expect((await other.client().get(path).expect(404)).body).toEqual(unknown.body);
    expect((await other.client().post(`${path}/gopay`).expect(404)).body).toEqual(unknown.body);
  });
});
