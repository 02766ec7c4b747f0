import type { Page } from 'playwright-core';
import { search, waitForHeading, waitForText } from './support/page.js';
import { changeResponses, holdRequests, LIKE_BROWSER } from './support/requests.js';
import { changePrice, createProduct, CROISSANT, makeUnavailable, placeOrder } from './support/shop.js';
import { createCustomer } from './support/shopper.js';
import { addToCartAndChoosePickup, choosePickup, orderCart } from './support/steps.js';

const ORDERS = '**/api/orders';

/** Orders a croissant. The service creates the order, but the page gets a failure. */
async function orderWithFailedResponse(page: Page): Promise<void> {
  await addToCartAndChoosePickup(page, CROISSANT);
  await page.route(ORDERS, async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    const response = await route.fetch(LIKE_BROWSER);
    const errors = { code: 502, message: 'payment gateway is unavailable' };
    return route.fulfill({ response, status: 502, json: { status: 'fail', errors } });
  });
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForText(page, 'Payment gateway is unavailable.');
  await page.unroute(ORDERS);
}

it('a cart can be ordered again after its order got a failed response and was cancelled', async () => {
  const { page } = await createCustomer();
  const idempotencyKeys = new Set<string | undefined>();
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/api/orders'))
      idempotencyKeys.add(request.headers()['idempotency-key']);
  });
  await orderWithFailedResponse(page);

  await page.getByRole('link', { name: 'Orders' }).click();
  await page.getByRole('link', { name: /1 × Butter croissant/ }).click();
  await waitForHeading(page, 'Waiting for payment');
  const cancelled = page.url();
  await page.getByRole('button', { name: 'Cancel order' }).click();
  await page.getByRole('button', { name: 'Cancel the order' }).click();
  await waitForHeading(page, 'Cancelled');

  await page.getByRole('link', { name: /^Cart/ }).click();
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForHeading(page, 'Waiting for payment');
  expect(page.url()).not.toBe(cancelled);
  expect(idempotencyKeys.size).toBe(2);
});

it('a retry after a failed response continues the same order, even after its tab was closed', async () => {
  const { context, page } = await createCustomer();
  await orderWithFailedResponse(page);
  await page.close();
  const newTab = await context.newPage();
  await newTab.goto('/cart');
  await newTab.getByRole('button', { name: 'Order and pay' }).click();
  await waitForHeading(newTab, 'Waiting for payment');
  await newTab.getByRole('link', { name: '← Your orders' }).click();
  await waitForText(newTab, '1 order in all.');
});

it('a cart that is ordered in two tabs at the same time becomes one order', async () => {
  const { context, page } = await createCustomer();
  await addToCartAndChoosePickup(page, CROISSANT);
  const other = await context.newPage();
  await other.goto('/cart');
  const releases = [await holdRequests(page, ORDERS), await holdRequests(other, ORDERS)];
  for (const tab of [page, other]) await tab.getByRole('button', { name: 'Order and pay' }).click();
  for (const release of releases) await release();
  for (const tab of [page, other]) await waitForHeading(tab, 'Waiting for payment');
  expect(other.url()).toBe(page.url());
});

it('a cart is not ordered again while the card payment of its order is in review', async () => {
  const { page } = await createCustomer();
  await addToCartAndChoosePickup(page, CROISSANT);
  let orders = 0;
  await changeResponses<{ order: object }>(page, ORDERS, ({ order }) => {
    orders += 1;
    return { order: { ...order, status: 'capture', fraud_status: 'challenge', pay_until: null } };
  });
  await page.getByRole('button', { name: 'Order and pay' }).click();
  // Only the response to POST /api/orders says that the payment is in review. The page of the order may already show the real status.
  await waitForHeading(page, /^(Payment under review|Waiting for payment)$/);
  expect(orders).toBe(1);
});

it('a product that became unavailable while it was in a cart is shown as sold out, left out of the order and no longer listed', async () => {
  const { page } = await createCustomer();
  const gone = await createProduct('Roti habis', 20_000);
  await addToCartAndChoosePickup(page, CROISSANT);
  await page.getByRole('link', { name: 'Shop' }).click();
  await search(page, gone.name);
  await page.getByRole('link', { name: gone.name }).click();
  await page.getByRole('button', { name: 'Add to cart' }).click();
  await page.getByRole('link', { name: /^Cart/ }).click();
  await waitForText(page, 'Total, 2 pieces');
  await makeUnavailable(gone.id);

  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForText(page, 'A product in your cart is sold out.');
  await waitForText(page, 'Sold out. It is left out of your order.');
  await waitForText(page, 'Total, 1 piece');
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForHeading(page, 'Waiting for payment');
  await waitForText(page, 'Butter croissant');
  expect(await page.getByRole('main').getByText(gone.name).count()).toBe(0);
  await page.getByRole('link', { name: 'Shop' }).click();
  await search(page, gone.name);
  await waitForText(page, `Nothing that we bake has “${gone.name}” in its name.`);
  await page.goto(`/products/${gone.id}`);
  await waitForText(page, 'This product is sold out or no longer baked.');
});

it('products and pieces that are added while an order is being sent stay in the cart', async () => {
  const { page } = await createCustomer();
  const product = await createProduct('Roti susulan', 20_000);
  await addToCartAndChoosePickup(page, CROISSANT);
  const release = await holdRequests(page, ORDERS);
  const other = await page.context().newPage();
  await other.goto(`/products/${product.id}`);
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await other.getByRole('button', { name: 'Add to cart' }).click();
  await other.goto(`/products/${CROISSANT}`);
  await other.getByRole('button', { name: 'Add to cart' }).click();
  await waitForText(page, 'Total, 3 pieces');
  await release();
  await waitForHeading(page, 'Waiting for payment');
  await waitForText(page, /^1 × /);
  await page.getByRole('link', { name: /^Cart/ }).click();
  await page.getByRole('link', { name: product.name }).waitFor();
  await page.getByRole('link', { name: 'Butter croissant' }).waitFor();
  await waitForText(page, 'Total, 2 pieces');
});

it('a price that changed while the cart was open is shown before anything is ordered', async () => {
  const { page } = await createCustomer();
  const product = await createProduct('Kue naik', 25_000);
  await addToCartAndChoosePickup(page, product.id);
  await changePrice(product, 30_000);
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForText(page, 'A price has changed. Please check the new total and order again.');
  await waitForText(page, /Rp\s30\.000 each, was Rp\s25\.000/);
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForHeading(page, 'Waiting for payment');
  await waitForText(page, /Rp\s30\.000/);
});

it('a changed price and a sold-out product of one cart are explained together', async () => {
  const { page } = await createCustomer();
  const dearer = await createProduct('Kue naik', 25_000);
  const gone = await createProduct('Roti habis', 20_000);
  for (const { id } of [dearer, gone]) await addToCartAndChoosePickup(page, id);
  await changePrice(dearer, 30_000);
  await makeUnavailable(gone.id);
  await page.getByRole('button', { name: 'Order and pay' }).click();
  const text =
    'A price has changed. A product in your cart is sold out. Please check the new total and order again.';
  await page.getByRole('alert').getByText(text, { exact: true }).waitFor();
});

it('a double-click on "Order again" adds the products once, and a double-click on "Order and pay" opens one payment page', async () => {
  const { context, page } = await createCustomer();
  const { order_id } = await placeOrder(page);
  await page.goto(`/orders/${order_id}`);
  await page.getByRole('button', { name: 'Order again' }).dblclick();
  await waitForText(page, 'Total, 1 piece');
  await choosePickup(page);
  let orders = 0;
  page.on('request', (request) => {
    if (request.method() === 'POST' && new URL(request.url()).pathname === '/api/orders') orders += 1;
  });
  const opened = context.waitForEvent('page');
  await page.getByRole('button', { name: 'Order and pay' }).dblclick();
  await waitForHeading(page, 'Waiting for payment');
  await (await opened).getByRole('button', { name: 'Pay with QRIS' }).waitFor();
  expect(orders).toBe(1);
  expect(context.pages()).toHaveLength(2);
});

it('a double-click on "Remove" in the cart removes one product', async () => {
  const { page } = await createCustomer();
  const other = await createProduct('Roti kedua', 20_000);
  for (const id of [CROISSANT, other.id]) await addToCartAndChoosePickup(page, id);
  await page.getByRole('button', { name: 'Remove Butter croissant' }).dblclick();
  await waitForText(page, 'Butter croissant is no longer in your cart.');
  await waitForText(page, 'Total, 1 piece');
});

it('"Order again" leaves out products that are sold out, and says so', async () => {
  const { page } = await createCustomer();
  const product = await createProduct('Roti habis', 20_000);
  const { order_id } = await placeOrder(page, { quantities: { [CROISSANT]: 1, [product.id]: 1 } });
  await makeUnavailable(product.id);
  await page.goto(`/orders/${order_id}`);
  await page.getByRole('button', { name: 'Order again' }).click();
  await waitForText(page, 'Sold-out products are left out.');
  await waitForText(page, 'Total, 1 piece');
});

it('the last hour to pay has a countdown that screen readers ignore, and only the service decides that the time is over', async () => {
  const { page } = await createCustomer();
  const { order_id, pay_until } = await placeOrder(page);
  const end = Date.parse(pay_until ?? '');
  await page.clock.install({ time: end - 30 * 60_000 });
  await page.goto(`/orders/${order_id}`);
  const countdown = page.locator('.pay-until [aria-hidden=true]');
  await countdown.getByText(/^(30|29):\d\d$/).waitFor();
  // The clock of the device is fast now.
  await page.clock.setSystemTime(end + 1_000);
  await countdown.waitFor({ state: 'detached' });
  await waitForText(page, /^Pay until \w+ \d+ \w+, \d\d:\d\d$/);
  await page.getByRole('link', { name: 'Go to the payment page' }).waitFor();
});

it('an order whose time to pay is over cannot be paid, even before its status is expire', async () => {
  const { page } = await createCustomer();
  const { order_id } = await placeOrder(page);
  await changeResponses<{ order: object }>(page, `**/api/orders/${order_id}`, ({ order }) => ({
    order: { ...order, status: 'pending', pay_until: null },
  }));
  await page.goto(`/orders/${order_id}`);
  await waitForHeading(page, 'The time to pay is over');
  await waitForText(page, 'You can no longer pay for this order.');
});

it('an open order is polled at once when its tab becomes visible again', async () => {
  const { page } = await createCustomer();
  await addToCartAndChoosePickup(page, CROISSANT);
  await page.clock.install();
  const paymentPage = await orderCart(page);
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 1_000));
  await setVisibility(page, 'hidden');
  await paymentPage.getByRole('button', { name: 'Pay with QRIS' }).click();
  await waitForHeading(paymentPage, 'settlement');
  // The clock of the order's page is paused, so this request is not a scheduled poll.
  const requested = page.waitForResponse(/\/api\/orders\/[^/]+$/);
  await setVisibility(page, 'visible');
  await requested;
  await page.clock.resume();
  await waitForHeading(page, 'Paid');
  await waitForText(page, 'Receipt');
});

async function setVisibility(page: Page, state: 'visible' | 'hidden'): Promise<void> {
  await page.evaluate((visibility) => {
    Object.defineProperty(document, 'visibilityState', { value: visibility, configurable: true });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
  }, state);
}
