import type { Locator, Page } from 'playwright-core';
import { until } from '../support/wait.js';
import { waitForHeading, waitForText } from './support/page.js';
import { changeResponses } from './support/requests.js';
import { CROISSANT, placeOrder } from './support/shop.js';
import { createCustomer, createVisitor, PASSWORD } from './support/shopper.js';
import { addToCartAndChoosePickup, choosePickup } from './support/steps.js';

it('a customer signs in, orders and pays by keyboard only', async () => {
  const { email } = await createCustomer();
  const { context, page } = await createVisitor();
  await page.goto('/');
  await waitForHeading(page, 'Bread that was dough an hour ago');

  await tabTo(page, page.getByRole('banner').getByRole('link', { name: 'Sign in' }));
  await page.keyboard.press('Enter');
  await waitForHeading(page, 'Welcome back');
  await page.keyboard.type(email); // The sign-in page focuses this field instead of its heading.
  await tabTo(page, page.getByLabel('Password'));
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');
  await waitForHeading(page, 'Baked before sunrise');
  await page.getByRole('link', { name: 'Butter croissant' }).waitFor();
  await tabTo(page, page.getByRole('link', { name: 'Butter croissant' }));
  await page.keyboard.press('Enter');
  await waitForHeading(page, 'Butter croissant');
  await tabTo(page, page.getByRole('button', { name: 'Add to cart' }));
  await page.keyboard.press('Enter');
  await waitForText(page, 'Butter croissant is in your cart');
  await tabTo(page, page.getByRole('link', { name: /^Cart/ }), 'Shift+Tab');
  await page.keyboard.press('Enter');
  await waitForHeading(page, 'Your cart');
  await tabTo(page, page.getByLabel('Day'));
  await page.keyboard.press('ArrowDown');
  await tabTo(page, page.getByRole('button', { name: 'Order and pay' }));
  const opened = context.waitForEvent('page');
  await page.keyboard.press('Enter');
  const payment = await opened;
  await waitForHeading(page, 'Waiting for payment');
  await payment.getByRole('button', { name: 'Pay by card' }).waitFor();
  await tabTo(payment, payment.getByRole('button', { name: 'Pay by card' }));
  await payment.keyboard.press('Enter');
  await waitForHeading(page, 'Paid');
});

it('the focus moves to the heading of a new page and stays there while content loads', async () => {
  const { page } = await createCustomer();
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
  const { page } = await createCustomer();
  await addToCartAndChoosePickup(page, CROISSANT);
  await page.getByRole('button', { name: 'Remove Butter croissant' }).press('Enter');
  await waitForText(page, 'Nothing in it yet');
  expect(await readFocusedHeading(page)).toBe('Your cart');

  const { order_id } = await placeOrder(page);
  await changeResponses<{ order: object }>(page, `**/api/orders/${order_id}`, ({ order }) => ({
    order: { ...order, redirect_url: null },
  }));
  await page.goto(`/orders/${order_id}`);
  await page.getByRole('button', { name: 'Get a payment page' }).press('Enter');
  expect(await readFocusedHeading(page)).toBe('Waiting for payment');
});

/** Returns the text of the page's heading, once it has the focus. */
function readFocusedHeading(page: Page): Promise<string | null> {
  return page.locator('h1:focus').textContent();
}

/** Presses a key until the element has the focus. Asserts that its outline is visible. */
async function tabTo(page: Page, element: Locator, key = 'Tab'): Promise<void> {
  await until(`the focus on ${String(element)}`, async () => {
    await page.keyboard.press(key);
    return element.evaluate((node) => node === document.activeElement);
  });
  const outline = await element.evaluate((node) => parseFloat(getComputedStyle(node).outlineWidth));
  expect(outline).toBeGreaterThanOrEqual(2);
}
