import type { Page } from 'playwright-core';
import { expectIndonesian } from './support/layout.js';
import { waitForHeading, waitForText } from './support/page.js';
import { LIKE_BROWSER } from './support/requests.js';
import { getText } from './support/settings.js';
import { CROISSANT, placePaidOrder, useShopSettings } from './support/shop.js';
import { createAdmin, createCustomer, createVisitor } from './support/shopper.js';

const INDONESIAN = { locale: 'id-ID' };

/** Returns an Indonesian text of the storefront. */
const text = (key: string) => getText('id', key);
const press = (page: Page, key: string) => page.getByRole('button', { name: text(key), exact: true }).click();

it('a customer orders, cancels, orders again and pays in Indonesian', async () => {
  const { context, page } = await createCustomer(INDONESIAN);
  await page.goto(`/products/${CROISSANT}`);
  await press(page, 'product.add');
  await waitForText(page, /sudah di keranjang Anda: semuanya 1 buah/);
  await page.getByRole('link', { name: text('nav.cart') }).click();
  await press(page, 'cart.order');
  const missing = page.getByText(text('pickup.missing'), { exact: true });
  await missing.waitFor();
  await page.getByRole('button', { name: /English/ }).click();
  await page.getByText(getText('en', 'pickup.missing'), { exact: true }).waitFor();
  await page.getByRole('button', { name: /Bahasa Indonesia/ }).click();
  await missing.waitFor();
  await expectIndonesian(page);
  await page.getByLabel(text('pickup.day')).selectOption({ index: 1 });
  const note = page.getByLabel(text('order.note'));
  await note.fill('🎂'.repeat(501));
  await press(page, 'cart.order');
  await waitForText(page, 'Tulis paling banyak 500 karakter.');
  await note.fill('🎂'.repeat(500));
  await page.route('**/api/orders', (route) => route.fulfill({ status: 504, body: '<h1>Timeout</h1>' }));
  await press(page, 'cart.order');
  await waitForText(page, text('api:service is temporarily unavailable, please try again later'));
  await page.unroute('**/api/orders');
  await press(page, 'cart.order');
  await waitForHeading(page, text('status.pending'));
  await waitForText(page, /^Bayar sebelum/);
  await expectIndonesian(page);
  await press(page, 'order.cancel');
  await press(page, 'order.cancelYes');
  await waitForHeading(page, text('status.cancel'));
  await press(page, 'order.again');
  await waitForHeading(page, text('cart.title'));
  await page.getByLabel(text('pickup.day')).selectOption({ index: 1 });
  const opened = context.waitForEvent('page');
  await press(page, 'cart.order');
  await (await opened).getByRole('button', { name: 'Bayar dengan QRIS' }).click();
  await waitForHeading(page, text('status.settlement'));
  await expectIndonesian(page);
});

it('staff take a step of an order of the day, take it back, hand over the order and refund it in Indonesian', async () => {
  const customer = await createCustomer(INDONESIAN);
  const id = await placePaidOrder(customer.page);
  const number = id.slice(0, 8).toUpperCase();
  const { page } = await createAdmin(INDONESIAN);
  await page.goto('/manage/today');
  const order = page.locator('.day-order').filter({ hasText: number });
  await order.getByRole('button', { name: text('step.preparing') }).click();
  await waitForText(page, `${number}: ${text('fulfilment.preparing')}.`);
  await order.getByRole('button', { name: text('step.ready') }).waitFor();
  await expectIndonesian(page);
  await press(page, 'undo');
  await waitForText(page, text('step.undone'));
  await expectIndonesian(page);

  await customer.page.goto(`/orders/${id}`);
  await waitForText(customer.page, text('fulfilment.new.text'));
  await page.goto(`/manage/orders/${id}`);
  for (const step of ['preparing', 'ready', 'collected']) {
    await press(page, `step.${step}`);
    const badge = page.getByRole('status').getByText(text(`fulfilment.${step}`), { exact: true });
    await badge.waitFor();
    await expectIndonesian(page);
    await waitForText(customer.page, text(`fulfilment.${step}.text`)); // The page polls.
    await expectIndonesian(customer.page);
  }
  await page.locator('summary', { hasText: text('manage.refund') }).click();
  await press(page, 'manage.refund');
  await expectIndonesian(page);
  await press(page, 'refund.yes');
  await waitForText(page, /^Dana Rp\s24\.000 dikembalikan oleh/);
  await expectIndonesian(page);
  await customer.page.goto(`/orders/${id}`);
  await waitForHeading(customer.page, text('status.refund'));
  await expectIndonesian(customer.page);
});

describe('in a shop whose language is Indonesian', () => {
  useShopSettings({ language: 'id' });

  it('a browser with an unknown language gets the language of the shop, and loads only its texts', async () => {
    const { page } = await createVisitor({ locale: 'fr-FR' });
    const loaded: string[] = [];
    page.on('request', (request) => loaded.push(/messages-(\w+)-/.exec(request.url())?.[1] ?? ''));
    await page.goto('/');
    await waitForHeading(page, text('welcome.title'));
    expect(loaded.filter((language) => language !== '')).toEqual(['id']);
  });
});

describe('the language switch', () => {
  const script = '**/assets/messages-id-*.js';
  const indonesianButton = { name: /Bahasa Indonesia/ };

  it('reports that a language cannot be loaded, and then loads it at the next press', async () => {
    const { page } = await createVisitor();
    await page.goto('/login');
    await waitForHeading(page, 'Welcome back');
    await page.route(script, (route) => route.abort());
    await page.getByRole('button', indonesianButton).click();
    await waitForText(page, 'We cannot reach the bakery.');
    await page.unroute(script);
    await page.getByRole('button', indonesianButton).click();
    await waitForHeading(page, text('login.title'));
  });
});

it('the language that a customer saves in the profile applies to the page and its metadata until it is changed', async () => {
  const { page } = await createCustomer();
  await page.goto('/profile');
  // The language of the page may differ from that of the account. Saving makes them equal.
  await waitForText(page, 'If our emails are in another language, save this one.');
  const saved = page.waitForResponse((response) => response.request().method() === 'PATCH');
  await page.getByRole('button', { name: 'Save language' }).click();
  expect((await saved).url()).toMatch(/\/api\/users$/);
  expect((await saved).ok()).toBe(true);
  await page.getByLabel(/^Language/).selectOption('Bahasa Indonesia');
  await page.getByRole('button', { name: 'Save language' }).click();
  await waitForHeading(page, text('profile.title'));
  await page.reload();
  await waitForHeading(page, text('profile.title'));
  await page.locator('meta[name=description][content^="Roti dan kue"]').waitFor({ state: 'attached' });
  const href = (await page.locator('link[rel=manifest]').getAttribute('href')) ?? '';
  const manifest = await page.request.get(new URL(href, page.url()).href, LIKE_BROWSER);
  expect(await manifest.json()).toMatchObject({ lang: 'id', name: 'Roti Pagi' });
  await page.getByRole('button', { name: /English/ }).click();
  await waitForHeading(page, 'Your account');
});
