import type { Page, Route } from 'playwright-core';
import { until } from '../support/wait.js';
import { expectGoodLayout, expectIndonesian } from './support/layout.js';
import { openPage, waitForPictures, waitForText } from './support/page.js';
import { getText, serviceUrl } from './support/settings.js';
import {
  createProduct,
  makeUnavailable,
  placeOrder,
  placePaidOrder,
  useShopSettings,
} from './support/shop.js';
import { createAdmin, createCustomer, createVisitor } from './support/shopper.js';

type Act = (page: Page) => Promise<unknown>;
/** Path of a page, and for a further state of the page its name and what leads to it. */
type PageToCheck = readonly [path: string, state?: string, act?: Act];

const LONG_NAME = 'Wolfeschlegelsteinhausenbergerdorff Nama-Yang-Sangat-Panjang';
const LONG_SHOP_NAME = `Toko Roti dan Kue Keluarga ${LONG_NAME} di Indonesia`;
const UNKNOWN_ORDER = '00000000-0000-4000-8000-000000000000';

useShopSettings({ name: LONG_SHOP_NAME });

describe.each([
  { language: 'en', locale: 'en-GB' },
  { language: 'id', locale: 'id-ID' },
] as const)(
  'in the language "$language", every page is accessible, fits windows of 320 to 1280 px, and shows no English text in Indonesian',
  ({ language, locale }) => {
    const text = (key: string) => getText(language, key);
    const press = (key: string) => (page: Page) => page.getByRole('button', { name: text(key) }).click();
    const see = (key: string) => (page: Page) => waitForText(page, text(key));

    async function checkPages(page: Page, pages: readonly PageToCheck[]): Promise<void> {
      for (const [path, state = '', act] of pages) {
        await openPage(page, path);
        await act?.(page);
        if (language === 'id') await expectIndonesian(page);
        await expectGoodLayout(page, `${language} ${path} ${state}`);
      }
    }

    /** Registers a customer with a paid and an unpaid order. Returns the customer, and the ids of both orders. */
    async function newCustomerWithOrders() {
      const { page } = await createCustomer({ name: LONG_NAME, locale });
      const details = { phone: '0812-3456-7890', note: 'Tolong diiris '.repeat(20).trim() };
      const paid = await placePaidOrder(page, { quantities: { 1: 2, 9: 999 }, ...details });
      const { order_id: pending } = await placeOrder(page);
      return { page, paid, pending };
    }

    it('for visitors', async () => {
      const { page } = await createVisitor({ locale });
      await checkPages(page, [
        ['/'],
        ['/login'],
        ['/nowhere', 'missing', see('missing.title')],
        ['/register'],
        ['/register', 'with errors', submitEmptyForm],
        ['/forgot'],
        ['/forgot', 'second step', requestCode],
      ]);

      async function submitEmptyForm() {
        await press('register.submit')(page);
        await waitForText(page, text('api:fullname is required'));
        expect(await page.getByLabel(text('account.name')).getAttribute('aria-invalid')).toBe('true');
        expect(await page.locator('input:focus').getAttribute('name')).toBe('fullname');
      }

      async function requestCode() {
        await page.getByLabel(text('account.email')).fill('no-account@example.com');
        await press('forgot.send')(page);
        await waitForText(page, text('forgot.choose'));
      }
    });

    it('for customers', async () => {
      const { page: pageOfNewCustomer } = await createCustomer({ locale });
      await checkPages(pageOfNewCustomer, [
        ['/cart', 'empty', see('cart.empty')],
        ['/orders', 'empty', see('orders.empty')],
      ]);
      const { page, paid, pending } = await newCustomerWithOrders();
      const expensive = await createProduct('Kue pengantin', 999_999_999_999.99);
      await checkPages(page, [
        [
          `/?q=${encodeURIComponent(expensive.name)}`,
          'with the largest price',
          (page) => waitForText(page, expensive.name),
        ],
        [`/products/${expensive.id}`, 'with the largest price', press('product.add')],
        ['/', 'with pictures', waitForPictures],
        ['/?q=bagel'],
        ['/?q=pizza', 'nothing', see('search.nothing')],
        ['/products/1', 'with pictures', press('product.add')],
        ['/products/9', 'without a picture', press('product.add')],
        ['/products/999999', 'missing', see('product.missingText')],
        ['/cart'],
        ['/orders'],
        [`/orders/${paid}`, 'paid', see('order.receipt')],
        [`/orders/${pending}`, 'unpaid', see('order.cancel')],
        [`/orders/${UNKNOWN_ORDER}`, 'missing', see('order.missing')],
        ['/profile'],
        ['/verify'],
      ]);
    });

    it('for administrators', async () => {
      const { paid, pending } = await newCustomerWithOrders();
      await makeUnavailable((await createProduct('Roti libur', 10_000)).id);
      const { page } = await createAdmin({ locale });
      await checkPages(page, [
        ['/manage/today'],
        ['/manage/orders', 'with a long name', () => waitForText(page, LONG_NAME)],
        ['/manage/orders?refund=due'],
        [`/manage/orders/${paid}`, 'paid'],
        [`/manage/orders/${pending}`, 'unpaid', see('manage.notPaid')],
        ['/manage/products'],
        ['/manage/products?available=false', 'unavailable', see('products.hidden')],
        ['/manage/products/new'],
        ['/manage/products/1', 'with a removed picture', () => page.locator('.toggle').nth(1).click()],
        ['/manage/sales', 'with figures', () => page.locator('summary').click()],
        ['/manage/shop'],
      ]);
    });
  },
);

it('the catalog is accessible while it loads slowly, and after it has failed to load', async () => {
  const { page } = await createCustomer();
  await page.clock.install();
  const waiting: Route[] = [];
  await page.route(`${serviceUrl}/api/products**`, (route) => void waiting.push(route));
  const endRequest = async (end: 'abort' | 'continue') => {
    await until('the catalog is requested', () => waiting.length > 0);
    for (const route of waiting.splice(0)) await route[end]();
  };
  await page.goto('/');
  await page.locator('.grid > .skeleton').first().waitFor();
  await page.clock.runFor(6_000);
  await waitForText(page, "The bakery's service is slow at the moment.");
  await expectGoodLayout(page, 'loading catalog');
  await endRequest('abort');
  await waitForText(page, 'We cannot reach the bakery.');
  await expectGoodLayout(page, 'failed catalog');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.locator('.grid > .skeleton').first().waitFor();
  await endRequest('continue');
  await page.getByRole('link', { name: 'Kue lapis legit' }).waitFor();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});
