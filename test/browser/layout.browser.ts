import type { Page, Route } from 'playwright-core';
import { until } from '../support/wait.js';
import { expectGoodLayout, waitForPictures, waitForText } from './support/page.js';
import { serviceUrl } from './support/settings.js';
import { createProduct, makeUnavailable, placeOrder, placePaidOrder } from './support/shop.js';
import { type Customer, newAdmin, newCustomer, newVisitor } from './support/shopper.js';

interface PageToCheck {
  readonly name: string;
  readonly path: string;
  /** Text that the page shows when it has loaded. */
  readonly text: string | RegExp;
  /** Prepares the page for the check. */
  readonly act?: (page: Page) => Promise<unknown>;
}

const LONG_NAME = 'Wolfeschlegelsteinhausenbergerdorff Nama-Yang-Sangat-Panjang';
const UNKNOWN_ORDER = '00000000-0000-4000-8000-000000000000';

const VISITOR_PAGES: readonly PageToCheck[] = [
  { name: 'welcome', path: '/', text: 'Bread that was dough an hour ago' },
  { name: 'register', path: '/register', text: 'Been here before?' },
  { name: 'registration with errors', path: '/register', text: 'Been here before?', act: submitEmptyForm },
  { name: 'sign-in', path: '/login', text: 'Welcome back' },
  { name: 'forgotten password', path: '/forgot', text: 'Forgot your password?' },
  { name: 'password reset', path: '/forgot', text: 'Forgot your password?', act: requestCode },
  { name: 'not found', path: '/nowhere', text: 'There is nothing here' },
];

const NEW_CUSTOMER_PAGES: readonly PageToCheck[] = [
  { name: 'empty cart', path: '/cart', text: 'Nothing in it yet' },
  { name: 'no orders', path: '/orders', text: 'No orders yet' },
];

/** Pages of a customer with two orders. The two product pages fill the cart. */
const CUSTOMER_PAGES: readonly PageToCheck[] = [
  { name: 'catalog', path: '/', text: 'Kue lapis legit', act: waitForPictures },
  { name: 'search', path: '/?q=bagel', text: /^Bagel wijen no\. 1$/ },
  { name: 'search without results', path: '/?q=pizza', text: 'Nothing found' },
  {
    name: 'product with pictures',
    path: '/products/1',
    text: 'Eighteen layers',
    act: clickOn('Add to cart'),
  },
  {
    name: 'product without a picture',
    path: '/products/9',
    text: 'Baked fresh',
    act: clickOn('Add to cart'),
  },
  { name: 'cart', path: '/cart', text: 'Total, 2 pieces' },
  { name: 'missing product', path: '/products/999999', text: 'This product is sold out or no longer baked.' },
  { name: 'orders', path: '/orders', text: '2 orders in all.' },
  { name: 'missing order', path: `/orders/${UNKNOWN_ORDER}`, text: 'There is no such order' },
  { name: 'account', path: '/profile', text: 'Your account' },
  { name: 'verification', path: '/verify', text: 'Check your email' },
];

const ADMIN_PAGES: readonly PageToCheck[] = [
  { name: 'Today', path: '/manage/today', text: 'To bake' },
  { name: 'Orders', path: '/manage/orders', text: LONG_NAME },
  // The orders of other tests decide which of the two messages appears.
  { name: 'Orders with a refund due', path: '/manage/orders?refund=due', text: /found|match/ },
  { name: 'Products', path: '/manage/products', text: 'Kue lapis legit' },
  { name: 'unavailable Products', path: '/manage/products?available=false', text: 'Hidden' },
  { name: 'new product', path: '/manage/products/new', text: 'Create product' },
  {
    name: 'product editor',
    path: '/manage/products/1',
    text: 'Delete product',
    act: clickOn('Remove picture 2'),
  },
  { name: 'Sales', path: '/manage/sales', text: 'Products by revenue', act: openDetails },
  { name: 'Hours', path: '/manage/shop', text: 'Monday' },
];

async function checkPages(page: Page, pages: readonly PageToCheck[]): Promise<void> {
  for (const { name, path, text, act } of pages) {
    await page.goto(path);
    await waitForText(page, text);
    await act?.(page);
    await expectGoodLayout(page, name);
  }
}

/** Registers a customer with a paid and an unpaid order. `pages` are the pages of these orders. */
async function newCustomerWithOrders(): Promise<{ customer: Customer; pages: PageToCheck[] }> {
  const customer = await newCustomer({ name: LONG_NAME });
  const details = { phone: '0812-3456-7890', note: 'Please slice it '.repeat(20).trim() };
  const quantitiesByProductId = { 1: 2, 9: 999 };
  const paid = await placePaidOrder(customer, quantitiesByProductId, details);
  const { order_id: pending } = await placeOrder(customer, { 2: 1 });
  const pages = [
    { name: 'paid order', path: `/orders/${paid}`, text: 'Receipt' },
    { name: 'order that waits for its payment', path: `/orders/${pending}`, text: 'Cancel order' },
  ];
  return { customer, pages };
}

describe('every page fits windows of 320 to 1280 px and is accessible', () => {
  it('for visitors', async () => {
    const { page } = await newVisitor();
    await checkPages(page, VISITOR_PAGES);
  });

  it('for customers', async () => {
    const { customer, pages } = await newCustomerWithOrders();
    await checkPages(customer.page, [...CUSTOMER_PAGES, ...pages]);
    const { page } = await newCustomer();
    await checkPages(page, NEW_CUSTOMER_PAGES);
  });

  it('for administrators', async () => {
    const { pages } = await newCustomerWithOrders();
    await makeUnavailable((await createProduct('Roti libur', 10_000)).id);
    const { page } = await newAdmin();
    const orderPages = pages.map(({ name, path }) => ({
      name: `management page of the ${name}`,
      path: `/manage${path}`,
      text: 'Fulfilment',
    }));
    await checkPages(page, [...ADMIN_PAGES, ...orderPages]);
  });

  it('for customers while the catalog loads slowly and after it has failed to load, and "Try again" then loads the catalog', async () => {
    const { page } = await newCustomer();
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
});

async function submitEmptyForm(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Create account' }).click();
  await waitForText(page, 'Your name is required.');
  expect(await page.getByLabel('Your name').getAttribute('aria-invalid')).toBe('true');
}

async function requestCode(page: Page): Promise<void> {
  await page.getByLabel('Email').fill('no-account@example.com');
  await page.getByRole('button', { name: 'Send the code' }).click();
  await waitForText(page, 'Choose a new password');
}

/** Returns an `act` that clicks on a button. */
function clickOn(name: string) {
  return (page: Page) => page.getByRole('button', { name }).click();
}

async function openDetails(page: Page): Promise<void> {
  await page.locator('summary').click();
}
