import type { Page } from 'playwright-core';
import { ALWAYS_OPEN } from '../support/shop-settings.js';
import { until } from '../support/wait.js';
import { changeResponses, waitForHeading, waitForText } from './support/page.js';
import { CROISSANT, placeOrder, placePaidOrder, toShopDate, useShopSettings } from './support/shop.js';
import { newCustomer, newVisitor, openAsAdmin, PASSWORD } from './support/shopper.js';
import { addToCartAndChoosePickup, choosePickup } from './support/steps.js';

it('a customer signs in, orders and pays by keyboard only', async () => {
  const { email } = await newCustomer();
  const { context, page } = await newVisitor();
  await page.goto('/');
  await waitForHeading(page, 'Bread that was dough an hour ago');

  await tabTo(page, 'Sign in');
  await page.keyboard.press('Enter');
  await waitForHeading(page, 'Welcome back');
  await page.keyboard.type(email); // The sign-in page focuses this field instead of its heading.
  await tabTo(page, 'Password');
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');
  await waitForHeading(page, 'Baked before sunrise');
  await page.getByRole('link', { name: 'Butter croissant' }).waitFor();
  await tabTo(page, /^Butter croissant/);
  await page.keyboard.press('Enter');
  await waitForHeading(page, 'Butter croissant');
  await tabTo(page, 'Add to cart');
  await page.keyboard.press('Enter');
  await waitForText(page, 'Butter croissant is in your cart');
  await tabTo(page, /^Cart/, 'Shift+Tab');
  await page.keyboard.press('Enter');
  await waitForHeading(page, 'Your cart');
  await tabTo(page, 'Day');
  await page.keyboard.press('ArrowDown');
  await tabTo(page, 'Order and pay');
  const opened = context.waitForEvent('page');
  await page.keyboard.press('Enter');
  const payment = await opened;
  await waitForHeading(page, 'Waiting for payment');
  await payment.getByRole('button', { name: 'Pay by card' }).waitFor();
  await tabTo(payment, /^Pay by card/);
  await payment.keyboard.press('Enter');
  await waitForHeading(page, 'Paid');
});

it('the focus moves to the heading of a new page and stays there while content loads', async () => {
  const { page } = await newCustomer();
  await page.goto('/');
  await page.getByRole('link', { name: 'Orders' }).click();
  expect(await readFocusedHeading(page)).toBe('Your orders');
  await page.getByRole('link', { name: 'Shop', exact: true }).click();
  const product = page.waitForResponse(/\/api\/products\/\d+$/);
  await page.getByRole('link', { name: 'Butter croissant' }).click();
  await waitForHeading(page, 'Butter croissant');
  await (await product).finished();
  expect(await readFocusedHeading(page)).toBe('Butter croissant');
  await page.getByRole('button', { name: 'Add to cart' }).click();
  await page.getByRole('link', { name: /^Cart/ }).click();
  await choosePickup(page);
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForHeading(page, 'Waiting for payment');
  expect(await readFocusedHeading(page)).toBe('Waiting for payment');
  const { pathname } = new URL(page.url());
  // After a full reload, the order is not cached before its page opens.
  await page.goto('/orders');
  await page.locator(`a[href="${pathname}"]`).click();
  await waitForHeading(page, 'Waiting for payment');
  expect(await readFocusedHeading(page)).toBe('Waiting for payment');
});

it('the focus moves to the heading when the pressed button disappears, in the cart and on the page of an order', async () => {
  const customer = await newCustomer();
  const { page } = customer;
  await addToCartAndChoosePickup(page, CROISSANT);
  await page.getByRole('button', { name: 'Remove Butter croissant' }).press('Enter');
  await waitForText(page, 'Nothing in it yet');
  expect(await readFocusedHeading(page)).toBe('Your cart');

  const { order_id } = await placeOrder(customer, { [CROISSANT]: 1 });
  await changeResponses<{ order: object }>(page, `**/api/orders/${order_id}`, ({ order }) => ({
    order: { ...order, redirect_url: null },
  }));
  await page.goto(`/orders/${order_id}`);
  await page.getByRole('button', { name: 'Get a payment page' }).press('Enter');
  expect(await readFocusedHeading(page)).toBe('Waiting for payment');
});

describe('in a shop that is always open', () => {
  useShopSettings(ALWAYS_OPEN);

  it('the focus moves to the heading of the orders after a group of orders took a step, and after it failed', async () => {
    const customer = await newCustomer();
    const date = toShopDate(Date.now() + 6 * 24 * 60 * 60_000); // No other test places orders for this day.
    for (const time of ['07:00:00', '07:00:00'])
      await placePaidOrder(customer, { [CROISSANT]: 1 }, { pickup_at: `${date}T${time}+07:00` });
    const { page } = await openAsAdmin(`/manage/today?date=${date}`);
    await page.getByRole('button', { name: '07:00, 2 orders: Start preparing' }).press('Enter');
    await page.locator('h2#day-orders:focus').waitFor();
    await page.route('**/fulfilment', (route) => route.abort());
    await page.getByRole('button', { name: '07:00, 2 orders: Ready to be collected' }).press('Enter');
    await waitForText(page, 'We cannot reach the bakery.');
    await page.locator('h2#day-orders:focus').waitFor();
  });
});

/** Returns the text of the page's heading, once it has the focus. */
function readFocusedHeading(page: Page): Promise<string | null> {
  return page.locator('h1:focus').textContent();
}

/** Presses a key until the element with this name has the focus. Asserts that its outline is visible. */
async function tabTo(page: Page, name: string | RegExp, key = 'Tab'): Promise<void> {
  await until(`the focus on ${String(name)}`, async () => {
    await page.keyboard.press(key);
    const focused = await page.evaluate(() => {
      const element = document.activeElement;
      const label =
        element instanceof HTMLInputElement || element instanceof HTMLSelectElement
          ? element.labels?.[0]?.textContent
          : null;
      return {
        name: element?.getAttribute('aria-label') ?? label ?? element?.textContent.trim() ?? '',
        outline: element === null ? 0 : parseFloat(getComputedStyle(element).outlineWidth),
      };
    });
    if (typeof name === 'string' ? focused.name !== name : !name.test(focused.name)) return false;
    expect(focused.outline).toBeGreaterThanOrEqual(2);
    return true;
  });
}
