import type { Page, Response, Route } from 'playwright-core';
import {
  asAdmin,
  waitForHeading,
  takeScreenshot,
  register,
  waitForText,
  newShopper,
} from './support/shopper.js';

async function putIntoCart(page: Page, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    await page.goto('/');
    await page.getByRole('link', { name }).click();
    await waitForHeading(page, name);
    await page.getByRole('button', { name: 'Add to cart' }).click();
    await waitForText(page, `${name} is in your cart`);
  }
  await page.getByRole('link', { name: /^Cart/ }).click();
  await waitForHeading(page, 'Your cart');
}

it('a cart that was ordered and cancelled after a failed response makes a new order', async () => {
  const { page, problems } = await newShopper();
  await register(page);
  await putIntoCart(page, 'Sourdough loaf');
  const keys: (string | undefined)[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/api/orders'))
      keys.push(request.headers()['idempotency-key']);
  });
  const unavailable = (route: Route) => failAfterService(route, 502, 'payment gateway is unavailable');
  await page.route('**/api/orders', unavailable);
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForText(page, 'Payment gateway is unavailable.');
  await page.unroute('**/api/orders', unavailable);

  await page.getByRole('link', { name: 'Orders' }).click();
  await page.getByRole('link', { name: /1 × Sourdough loaf/ }).click();
  await waitForHeading(page, 'Waiting for payment');
  const cancelled = page.url();
  await page.getByRole('button', { name: 'Cancel order' }).click();
  await page.getByRole('button', { name: 'Cancel the order' }).click();
  await waitForHeading(page, 'Cancelled');

  await page.getByRole('link', { name: /^Cart/ }).click();
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForHeading(page, 'Waiting for payment');
  expect(page.url()).not.toBe(cancelled);
  expect(new Set(keys).size).toBe(2);
  expect(problems).toEqual([]);
});

it('a retry after a failed response continues the same order', async () => {
  const { page } = await newShopper();
  await register(page);
  await putIntoCart(page, 'Sourdough loaf');
  const unavailable = (route: Route) => failAfterService(route, 502, 'payment gateway is unavailable');
  await page.route('**/api/orders', unavailable);
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForText(page, 'Payment gateway is unavailable.');
  await page.unroute('**/api/orders', unavailable);
  await page.reload();
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForHeading(page, 'Waiting for payment');
  await page.getByRole('link', { name: '← Your orders' }).click();
  await waitForText(page, '1 order in all.');
});

it('a product that was deleted is marked in the cart and left out of the total and the order', async () => {
  const { page, problems } = await newShopper();
  const name = `Kue musiman ${Date.now()}`;
  const id = await createProduct(name);
  await register(page);
  await putIntoCart(page, 'Donat kentang');
  await page.goto(`/products/${id}`);
  await page.getByRole('button', { name: 'Add to cart' }).click();
  // The cart loads its products when it is opened. Delete the product after that.
  const checked = page.waitForResponse(new RegExp(`/api/products/${id}$`));
  await page.getByRole('link', { name: /^Cart/ }).click();
  await waitForText(page, 'Total, 2 pieces');
  await (await checked).finished();
  expect((await asAdmin('DELETE', `/api/products/${id}`)).status).toBe(204);

  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForText(page, 'A product in your cart is sold out.');
  await waitForText(page, 'Sold out. It is left out of your order.');
  await waitForText(page, 'Total, 1 piece');
  await takeScreenshot(page, 'cart-gone-desktop');
  await page.setViewportSize({ width: 390, height: 844 });
  await takeScreenshot(page, 'cart-gone-phone');
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForHeading(page, 'Waiting for payment');
  await waitForText(page, 'Order summary');
  expect(await page.getByRole('main').getByText(name).count()).toBe(0);
  expect(problems).toEqual([]);
});

it('an open order is polled with growing gaps, and at once when the tab becomes visible again', async () => {
  const { context, page } = await newShopper();
  await register(page);
  await putIntoCart(page, 'Donat kentang');
  await page.clock.install();
  const opened = context.waitForEvent('page');
  await page.getByRole('button', { name: 'Order and pay' }).click();
  const payment = await opened;
  await waitForHeading(page, 'Waiting for payment');
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 1_000));

  const gaps = [];
  for (let polls = 0; polls < 5; polls += 1) gaps.push(await measureGapToPoll(page));
  // The first gap begins before the clock is paused.
  const [, first = 0, ...later] = gaps;
  expect(first).toBeLessThan(5);
  expect(later).toEqual([...later].sort((one, other) => one - other));
  expect(later.at(-1)).toBeGreaterThan(first);

  await show(page, 'hidden');
  await payment.getByRole('button', { name: 'Pay with QRIS' }).click();
  await waitForHeading(payment, /Paid|Settled|settlement/i);
  // The page's clock is paused, so this request is not a poll.
  const requested = page.waitForResponse(isOrderRequest);
  await show(page, 'visible');
  await requested;
  await page.clock.resume();
  await waitForHeading(page, 'Paid');
  await waitForText(page, 'Receipt');
});

function isOrderRequest(call: Response): boolean {
  return call.request().method() === 'GET' && /\/api\/orders\/[^/]+$/.test(call.url());
}

/** Advances the page's clock until the order is requested. @returns by how many seconds */
async function measureGapToPoll(page: Page): Promise<number> {
  const sent: unknown[] = [];
  const requested = page.waitForResponse(isOrderRequest);
  page.once('request', (request) => sent.push(request));
  for (let seconds = 0.25; seconds < 20; seconds += 0.25) {
    await page.clock.runFor(250);
    if (sent.length === 0) continue;
    await (await requested).finished();
    return seconds;
  }
  throw new Error('the order was not requested within 20 seconds');
}

/** Lets the service process a call, but returns a failure to the page. */
async function failAfterService(route: Route, code: number, message: string): Promise<void> {
  if (route.request().method() !== 'POST') return route.continue();
  const response = await route.fetch();
  await route.fulfill({ response, status: code, json: { status: 'fail', errors: { code, message } } });
}

async function createProduct(name: string): Promise<number> {
  const form = new FormData();
  form.set('name', name);
  form.set('description', 'Only this week.');
  form.set('price', '5000');
  const answer = await asAdmin('POST', '/api/products', form);
  const { data } = (await answer.json()) as { data: { products: { id: number } } };
  return data.products.id;
}

/** Simulates that the tab becomes visible or hidden. */
async function show(page: Page, state: 'visible' | 'hidden'): Promise<void> {
  await page.evaluate((visibility) => {
    Object.defineProperty(document, 'visibilityState', { value: visibility, configurable: true });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
  }, state);
}
