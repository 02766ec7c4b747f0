import type { Page } from 'playwright-core';
import {
  expectGoodLayout,
  expectIndonesian,
  holdRequests,
  waitForHeading,
  waitForText,
} from './support/page.js';
import { getText } from './support/settings.js';
import { CROISSANT, placePaidOrder, useShopSettings } from './support/shop.js';
import { newAdmin, newCustomer, newEmail, newVisitor, PASSWORD } from './support/shopper.js';

/** Returns an Indonesian text of the storefront. */
const text = (key: string) => getText('id', key);
/** The dark colors are checked together with the Indonesian texts. */
const INDONESIAN_IN_DARK = { locale: 'id-ID', colorScheme: 'dark' } as const;

async function checkPages(page: Page, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await page.goto(path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.locator('.skeleton').first().waitFor({ state: 'detached' });
    await expectIndonesian(page);
    await expectGoodLayout(page, `${path} in Indonesian`);
  }
}

it('a customer registers, orders, cancels, orders again, pays and collects, and staff hand over and refund the order, all in Indonesian', async () => {
  const { context, page } = await newVisitor(INDONESIAN_IN_DARK);
  await checkPages(page, ['/', '/login', '/register', '/forgot', '/nowhere']);
  await page.goto('/register');
  await page.getByRole('button', { name: text('register.submit') }).click();
  await waitForText(page, text('api:fullname is required'));
  await expectIndonesian(page);
  await page.getByLabel(text('account.name')).fill('Ayu Lestari');
  await page.getByLabel(text('account.email')).fill(newEmail());
  await page.getByLabel(text('account.password'), { exact: true }).fill(PASSWORD);
  await page.getByLabel(text('account.repeatPassword')).fill(PASSWORD);
  await page.getByRole('button', { name: text('register.submit') }).click();
  await waitForHeading(page, text('verify.title'));
  await page.goto(`/products/${CROISSANT}`);
  await page.getByRole('button', { name: text('product.add') }).click();
  await waitForText(page, /sudah di keranjang Anda: semuanya 1 buah/);
  await page.getByRole('link', { name: text('nav.cart') }).click();
  await page.getByRole('button', { name: text('cart.order') }).click();
  await waitForText(page, text('pickup.missing'));
  await expectIndonesian(page);
  await page.getByLabel(text('pickup.day')).selectOption({ index: 1 });
  await page.getByRole('button', { name: text('cart.order') }).click();
  await waitForHeading(page, text('status.pending'));
  await waitForText(page, /^Bayar sebelum/);
  await expectIndonesian(page);
  await page.getByRole('button', { name: text('order.cancel') }).click();
  await page.getByRole('button', { name: text('order.cancelYes') }).click();
  await waitForHeading(page, text('status.cancel'));
  await page.getByRole('button', { name: text('order.again') }).click();
  await waitForHeading(page, text('cart.title'));
  await page.getByLabel(text('pickup.day')).selectOption({ index: 1 });
  const opened = context.waitForEvent('page');
  await page.getByRole('button', { name: text('cart.order') }).click();
  await (await opened).getByRole('button', { name: 'Pay with QRIS' }).click();
  await waitForHeading(page, text('status.settlement'));
  await expectIndonesian(page);
  const id = page.url().split('/').at(-1);

  const { page: staff } = await newAdmin(INDONESIAN_IN_DARK);
  await staff.goto('/manage/orders');
  await staff.locator(`a[href="/manage/orders/${id}"]`).click();
  for (const step of ['preparing', 'ready', 'collected']) {
    await staff.getByRole('button', { name: text(`step.${step}`) }).click();
    await staff
      .getByRole('status')
      .getByText(text(`fulfilment.${step}`), { exact: true })
      .waitFor();
    await expectIndonesian(staff);
    await waitForText(page, text(`fulfilment.${step}.text`));
  }
  await staff.locator('summary', { hasText: text('manage.refund') }).click();
  await staff.getByRole('button', { name: text('manage.refund'), exact: true }).click();
  await expectIndonesian(staff);
  await staff.getByRole('button', { name: text('refund.yes') }).click();
  await waitForText(staff, /^Dana Rp\s24\.000 dikembalikan oleh/);
  await expectIndonesian(staff);
  await page.reload();
  await waitForHeading(page, text('status.refund'));
  await expectIndonesian(page);
});

it('every page of customers and staff is in Indonesian, fits its window and is accessible in dark colors', async () => {
  const customer = await newCustomer(INDONESIAN_IN_DARK);
  const id = await placePaidOrder(customer, { [CROISSANT]: 1 });
  const customerPaths = [
    '/',
    '/?q=pizza',
    '/products/1',
    '/cart',
    '/orders',
    `/orders/${id}`,
    '/profile',
    '/verify',
  ];
  await checkPages(customer.page, customerPaths);
  const { page } = await newAdmin(INDONESIAN_IN_DARK);
  const managePaths = [
    'today',
    'orders',
    `orders/${id}`,
    'products',
    'products/new',
    'products/1',
    'sales',
    'shop',
  ];
  await checkPages(
    page,
    managePaths.map((path) => `/manage/${path}`),
  );
});

describe('in a shop whose language is Indonesian', () => {
  useShopSettings({ language: 'id' });

  it('a browser with an unknown language gets the language of the shop, and loads only its texts', async () => {
    const { page } = await newVisitor({ locale: 'fr-FR' });
    const loaded: string[] = [];
    page.on('request', (request) => loaded.push(/messages-(\w+)-/.exec(request.url())?.[1] ?? ''));
    await page.goto('/');
    await waitForHeading(page, text('welcome.title'));
    expect(loaded.filter((language) => language !== '')).toEqual(['id']);
  });
});

describe('the language switch', () => {
  const script = '**/assets/messages-id-*.js';
  const indonesian = { name: /Bahasa Indonesia/ };

  it('reports that a language cannot be loaded, and then loads it at the next press', async () => {
    const { page } = await newVisitor();
    await page.goto('/login');
    await waitForHeading(page, 'Welcome back');
    await page.route(script, (route) => route.abort());
    await page.getByRole('button', indonesian).click();
    await waitForText(page, 'We cannot reach the bakery.');
    await page.unroute(script);
    await page.getByRole('button', indonesian).click();
    await waitForHeading(page, text('login.title'));
  });

  it('shows the language that was chosen last, even if the texts of an earlier choice arrive later', async () => {
    const { context, page } = await newVisitor();
    const otherTab = await context.newPage();
    for (const tab of [page, otherTab]) await tab.goto('/login');
    const release = await holdRequests(page, script);
    const requested = page.waitForRequest(script);
    await page.getByRole('button', indonesian).click();
    const url = (await requested).url();

    await page.evaluate(() => {
      addEventListener('storage', ({ newValue }) => (document.body.dataset.stored = newValue ?? ''));
    });
    await otherTab.getByRole('button', indonesian).click();
    await otherTab.getByRole('button', { name: /English/ }).click();
    await page.locator(`body[data-stored*='"en"']`).waitFor();
    await release();
    // Resolves after the storefront has got the texts too.
    await page.evaluate(async (loaded) => {
      await import(loaded);
    }, url);
    expect(await page.locator('html').getAttribute('lang')).toBe('en');
    expect(await page.evaluate(() => localStorage.getItem('bakery.language'))).toContain('"en"');
  });
});

it('the profile changes the language of the page, its manifest and its description, the choice is remembered, and the switch changes the page back', async () => {
  const { page } = await newCustomer();
  await page.goto('/profile');
  await page.getByLabel(/^Language/).selectOption('Bahasa Indonesia');
  await page.getByRole('button', { name: 'Save language' }).click();
  await waitForHeading(page, text('profile.title'));
  await page.reload();
  await waitForHeading(page, text('profile.title'));
  await page.locator('meta[name=description][content^="Roti dan kue"]').waitFor({ state: 'attached' });
  const href = (await page.locator('link[rel=manifest]').getAttribute('href')) ?? '';
  const manifest = await page.request.get(new URL(href, page.url()).href);
  expect(await manifest.json()).toMatchObject({ lang: 'id', name: 'Roti Pagi' });
  await page.getByRole('button', { name: /English/ }).click();
  await waitForHeading(page, 'Your account');
});
