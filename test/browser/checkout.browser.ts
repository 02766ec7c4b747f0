import type { Page, Response, Route } from 'playwright-core';
import { asAdmin, heading, photograph, register, sees, shopperOf } from './support/shopper.js';

async function putIntoCart(page: Page, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    await page.goto('/');
    await page.getByRole('link', { name }).click();
    await heading(page, name);
    await page.getByRole('button', { name: 'Add to cart' }).click();
    await sees(page, `${name} is in your cart`);
  }
  await page.getByRole('link', { name: /^Cart/ }).click();
  await heading(page, 'Your cart');
}

it('an order that was cancelled after a failed answer is not brought back by the same cart', async () => {
  const { page, problems } = await shopperOf();
  await register(page);
  await putIntoCart(page, 'Sourdough loaf');
  const keys: (string | undefined)[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/api/orders'))
      keys.push(request.headers()['idempotency-key']);
  });
  const unavailable = (route: Route) => afterTheService(route, 502, 'payment gateway is unavailable');
  await page.route('**/api/orders', unavailable);
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await sees(page, 'Payment gateway is unavailable.');
  await page.unroute('**/api/orders', unavailable);

  await page.getByRole('link', { name: 'Orders' }).click();
  await page.getByRole('link', { name: /1 × Sourdough loaf/ }).click();
  await heading(page, 'Waiting for payment');
  const cancelled = page.url();
  await page.getByRole('button', { name: 'Cancel order' }).click();
  await page.getByRole('button', { name: 'Cancel the order' }).click();
  await heading(page, 'Cancelled');

  await page.getByRole('link', { name: /^Cart/ }).click();
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await heading(page, 'Waiting for payment');
  expect(page.url()).not.toBe(cancelled);
  expect(new Set(keys).size).toBe(2);
  expect(problems).toEqual([]);
});

it('a new try after a failed answer goes on with the same order', async () => {
  const { page } = await shopperOf();
  await register(page);
  await putIntoCart(page, 'Sourdough loaf');
  const unavailable = (route: Route) => afterTheService(route, 502, 'payment gateway is unavailable');
  await page.route('**/api/orders', unavailable);
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await sees(page, 'Payment gateway is unavailable.');
  await page.unroute('**/api/orders', unavailable);
  await page.reload();
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await heading(page, 'Waiting for payment');
  await page.getByRole('link', { name: '← Your orders' }).click();
  await sees(page, '1 order in all.');
});

it('a product that is gone is marked in the cart and left out of the total and the order', async () => {
  const { page, problems } = await shopperOf();
  const name = `Kue musiman ${Date.now()}`;
  const id = await createProduct(name);
  await register(page);
  await putIntoCart(page, 'Donat kentang');
  await page.goto(`/products/${id}`);
  await page.getByRole('button', { name: 'Add to cart' }).click();
  // The cart asks for its products when it is opened; the product goes after that.
  const checked = page.waitForResponse(new RegExp(`/api/products/${id}$`));
  await page.getByRole('link', { name: /^Cart/ }).click();
  await sees(page, 'Total, 2 pieces');
  await (await checked).finished();
  expect((await asAdmin('DELETE', `/api/products/${id}`)).status).toBe(204);

  await page.getByRole('button', { name: 'Order and pay' }).click();
  await sees(page, 'Something in your cart is no longer baked.');
  await sees(page, 'We do not bake this any more. It is left out of your order.');
  await sees(page, 'Total, 1 piece');
  await photograph(page, 'cart-gone-desktop');
  await page.setViewportSize({ width: 390, height: 844 });
  await photograph(page, 'cart-gone-phone');
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await heading(page, 'Waiting for payment');
  await sees(page, 'Order summary');
  expect(await page.getByRole('main').getByText(name).count()).toBe(0);
  expect(problems).toEqual([]);
});

it('an order is asked for with growing gaps, and at once when the tab is looked at again', async () => {
  const { context, page } = await shopperOf();
  await register(page);
  await putIntoCart(page, 'Donat kentang');
  await page.clock.install();
  const opened = context.waitForEvent('page');
  await page.getByRole('button', { name: 'Order and pay' }).click();
  const payment = await opened;
  await heading(page, 'Waiting for payment');
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 1_000));

  const gaps = [];
  for (let polls = 0; polls < 5; polls += 1) gaps.push(await secondsUntilAsked(page));
  // The first one begins before the clock is paused.
  const [, first = 0, ...later] = gaps;
  expect(first).toBeLessThan(5);
  expect(later).toEqual([...later].sort((one, other) => one - other));
  expect(later.at(-1)).toBeGreaterThan(first);

  await show(page, 'hidden');
  await payment.getByRole('button', { name: 'Pay with QRIS' }).click();
  await heading(payment, /Paid|Settled|settlement/i);
  // The page's clock stands still, so that this is not one of the polls.
  const asked = page.waitForResponse(isForOrder);
  await show(page, 'visible');
  await asked;
  await page.clock.resume();
  await heading(page, 'Paid');
  await sees(page, 'Receipt');
});

function isForOrder(call: Response): boolean {
  return call.request().method() === 'GET' && /\/api\/orders\/[^/]+$/.test(call.url());
}

/** Turns the page's clock on until the order is asked for. @returns how far it was turned */
async function secondsUntilAsked(page: Page): Promise<number> {
  const sent: unknown[] = [];
  const asked = page.waitForResponse(isForOrder);
  page.once('request', (request) => sent.push(request));
  for (let seconds = 0.25; seconds < 20; seconds += 0.25) {
    await page.clock.runFor(250);
    if (sent.length === 0) continue;
    await (await asked).finished();
    return seconds;
  }
  throw new Error('the order was not asked for within 20 seconds');
}

/** Lets the service handle a call, and answers with a failure all the same. */
async function afterTheService(route: Route, code: number, message: string): Promise<void> {
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

/** Makes the page believe that its tab is shown or hidden, and that this has just changed. */
async function show(page: Page, state: 'visible' | 'hidden'): Promise<void> {
  await page.evaluate((visibility) => {
    Object.defineProperty(document, 'visibilityState', { value: visibility, configurable: true });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
  }, state);
}
