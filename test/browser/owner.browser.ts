import type { Page } from 'playwright-core';
import { expectGoodLayout } from './support/layout.js';
import { openPage, search, waitForHeading, waitForText } from './support/page.js';
import { changeResponses } from './support/requests.js';
import { makeUnique, placeOrder, placePaidOrder, setFulfilment } from './support/shop.js';
import { createCustomer, openAsAdmin } from './support/shopper.js';

declare global {
  var playedTones: number;
}

it('the list of orders keeps its search and filters while the owner takes a step of an order', async () => {
  const customer = await createCustomer({ name: makeUnique('Sari Wulandari') });
  const { name, email } = customer;
  const surname = name.replace('Sari ', '').toUpperCase();
  await placePaidOrder(customer.page);

  const { page } = await openAsAdmin('/manage/today');
  await page.getByRole('navigation', { name: 'Manage' }).getByRole('link', { name: 'Orders' }).click();
  await search(page, surname);
  await waitForText(page, '1 order found.');
  await page.getByLabel('Payment').selectOption('pending');
  await page.getByRole('status').getByText('Nothing found').waitFor();
  await page.getByLabel('Payment').selectOption('settlement');
  await page.getByLabel('Fulfilment').selectOption('new');
  await page.getByRole('link', { name }).click();
  await waitForHeading(page, 'Order');
  await page.getByRole('link', { name: email }).waitFor();
  await waitForText(page, 'Notification, applied');
  await waitForText(page, '1 × Rp 24.000');

  await page.getByRole('button', { name: 'Start preparing' }).click();
  await page.getByRole('status').getByText('Preparing', { exact: true }).waitFor();
  // The pressed button has disappeared, but the focus is not lost.
  await page.locator('h2:focus').waitFor();
  // The list still has its search and its filters. The filter for new orders does not match this order any longer.
  await page.getByRole('link', { name: '← Back to the list' }).click();
  expect(await page.getByRole('searchbox').inputValue()).toBe(surname);
  await waitForText(page, 'No orders match your search.');
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.getByRole('link', { name }).getByText('Preparing').waitFor();
});

it('the page of an order explains that someone else has refused the order', async () => {
  const customer = await createCustomer();
  const id = await placePaidOrder(customer.page);
  const { page } = await openAsAdmin(`/manage/orders/${id}`);
  await page.route('**/fulfilment', async (route) => {
    await setFulfilment(id, 'refused');
    await route.continue();
  });
  await page.getByRole('button', { name: 'Start preparing' }).click();
  const fulfilment = page.getByRole('region', { name: 'Fulfilment' });
  await waitForText(fulfilment.getByRole('alert'), 'The order cannot take this step.');
  await waitForText(fulfilment, 'Refused');
  await expectGoodLayout(page, 'rejected step');
});

it.each([
  { order: 'can still be paid waits', state: { status: 'expire' }, label: 'Payment failed', hints: 1 },
  {
    order: 'can no longer be paid does not wait',
    state: { status: 'deny', pay_until: null },
    label: 'Payment denied',
    hints: 0,
  },
])('the page of an order that $order for a payment', async ({ state, label, hints }) => {
  const customer = await createCustomer();
  const { order_id } = await placeOrder(customer.page);
  const { page } = await openAsAdmin('/manage/orders');
  const url = `**/api/admin/orders/${order_id}`;
  await changeResponses<{ order: object }>(page, url, ({ order, ...data }) => ({
    ...data,
    order: { ...order, ...state },
  }));
  await page.goto(`/manage/orders/${order_id}`);
  await page.getByRole('region', { name: 'Payment' }).getByText(label).waitFor();
  expect(await page.getByText('The order can be prepared once it is paid.').count()).toBe(hints);
  expect(await page.getByRole('button', { name: 'Start preparing' }).count()).toBe(0);
});

it('newly paid orders and the end of the session are announced in the title of the tab and with a sound that one tap turns on', async () => {
  const { context, page } = await openAsAdmin('/manage/orders');
  await page.clock.install();
  await countTones(page);
  await openPage(page, '/manage/orders'); // The page uses the installed clock only after a reload.
  const sound = page.getByRole('button', { name: 'Turn on the sound for new orders' });
  await sound.click();
  await sound.waitFor({ state: 'detached' });
  await page.waitForFunction(() => globalThis.playedTones === 1); // The tap plays the sound, so that staff know it.
  // Stop the page's clock, so that the list is not polled while the customer orders.
  await page.clock.pauseAt(new Date(Date.now() + 2_000));
  await placePaidOrder((await createCustomer()).page);
  await page.clock.runFor(16_000); // The orders are polled every 15 seconds.
  await page.clock.resume();
  await page.getByRole('status').getByText('1 new order.').waitFor();
  expect(await page.evaluate(() => globalThis.playedTones)).toBe(2);
  expect(await page.title()).toMatch(/^\(1\) Orders/);
  await page.getByRole('heading', { name: 'Orders' }).click();
  expect(await page.title()).toMatch(/^Orders/);
  await context.clearCookies();
  await page.clock.runFor(16_000);
  await page.getByRole('dialog', { name: 'Please sign in again' }).waitFor();
  expect(await page.evaluate(() => globalThis.playedTones)).toBe(3);
  expect(await page.title()).toMatch(/^\(1\) Orders/);
  await page.keyboard.press('Tab');
  expect(await page.title()).toMatch(/^Orders/);
});

/** Counts the tones that each page plays in `playedTones`. */
function countTones(page: Page): Promise<unknown> {
  return page.addInitScript(() => {
    globalThis.playedTones = 0;
    globalThis.AudioContext = class extends AudioContext {
      override createOscillator() {
        globalThis.playedTones += 1;
        return super.createOscillator();
      }
    };
  });
}
