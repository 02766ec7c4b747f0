import type { Page } from 'playwright-core';
import {
  DESKTOP,
  heading,
  overflow,
  PHONE,
  photograph,
  register,
  search,
  sees,
  shopperOf,
  signInAsAdmin,
  takeStep,
  violations,
} from './support/shopper.js';

/** Orders one product. @returns the payment page */
async function order(page: Page, name: string): Promise<Page> {
  await page.goto('/');
  await page.getByRole('link', { name }).click();
  await page.getByRole('button', { name: 'Add to cart' }).click();
  await page.getByRole('link', { name: /^Cart/ }).click();
  const opened = page.context().waitForEvent('page');
  await page.getByRole('button', { name: 'Order and pay' }).click();
  return opened;
}

/** Orders one product and pays it. @returns the order's id */
async function buy(page: Page, name: string): Promise<string> {
  const payment = await order(page, name);
  await payment.getByRole('button', { name: 'Pay with QRIS' }).click();
  await heading(page, 'Paid');
  return shownId(page);
}

/** The id of the order whose page is shown. */
function shownId(page: Page): string {
  return new URL(page.url()).pathname.split('/').at(-1) ?? '';
}

it('the owner takes an order from the search to collected, and its customer sees each step', async () => {
  const customer = await shopperOf();
  const name = `Sari Wulandari ${Date.now()}`;
  const email = await register(customer.page, name);
  await buy(customer.page, 'Donat kentang');
  await sees(customer.page, 'We have your order and start soon.');

  const { page, problems } = await shopperOf();
  await signInAsAdmin(page);
  await page.getByRole('link', { name: 'Manage' }).click();
  await page.getByRole('navigation', { name: 'Manage' }).getByRole('link', { name: 'Orders' }).click();
  await search(page, name.slice(5).toUpperCase());
  await sees(page, '1 order found.');
  await page.getByLabel('Payment').selectOption('pending');
  await page.getByRole('status').getByText('Nothing found').waitFor();
  await page.getByLabel('Payment').selectOption('settlement');
  await page.getByLabel('Fulfilment').selectOption('new');
  await page.getByRole('link', { name }).click();
  await heading(page, 'Order');
  await page.getByRole('link', { name: email }).waitFor();
  await sees(page, 'Notification, applied');
  await sees(page, '1 × Rp 12.000');

  const STEPS = [
    ['Start preparing', 'Preparing', 'We are baking for you.'],
    ['Ready to be collected', 'Ready', 'Your order is ready. Come and collect it.'],
    ['Handed over', 'Collected', 'Enjoy it!'],
  ] as const;
  for (const [button, state, text] of STEPS) {
    await page.getByRole('button', { name: button }).click();
    await page.getByRole('status').getByText(state, { exact: true }).waitFor();
    // The pressed button is gone; the focus is not lost.
    await page.locator('h2:focus').waitFor();
    await sees(customer.page, text);
  }
  expect(await page.getByRole('button', { name: 'Refuse' }).count()).toBe(0);
  await photograph(page, 'manage-order-collected-desktop', true);
  await photograph(customer.page, 'order-collected-desktop', true);
  // Back in the list the search and the filters are as they were.
  await page.goBack();
  expect(await page.getByRole('searchbox').inputValue()).toBe(name.slice(5).toUpperCase());
  await sees(page, 'No order is like that.');
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.getByRole('link', { name }).getByText('Collected').waitFor();
  expect([...problems, ...customer.problems]).toEqual([]);
});

it('a step that another administrator took meanwhile is refused, told and shown', async () => {
  const customer = await shopperOf();
  await register(customer.page);
  const id = await buy(customer.page, 'Butter croissant');
  const { page, problems } = await shopperOf();
  await signInAsAdmin(page);
  await page.goto(`/manage/orders/${id}`);
  await page.getByRole('button', { name: 'Start preparing' }).waitFor();
  expect((await takeStep(id, 'preparing')).status).toBe(200);
  await page.getByRole('button', { name: 'Start preparing' }).click();
  await page.getByRole('alert').getByText('The order cannot become preparing.').waitFor();
  await page.getByRole('button', { name: 'Ready to be collected' }).waitFor();

  await page.getByRole('button', { name: 'Refuse' }).click();
  await page.getByRole('button', { name: 'Refuse the order' }).click();
  await page.getByRole('status').getByText('Refused').waitFor();
  await sees(customer.page, 'We cannot make this order. We are sorry.');
  for (const { width, height } of [PHONE, DESKTOP]) {
    await page.setViewportSize({ width, height });
    expect(await overflow(page)).toBe(0);
    expect(await violations(page)).toEqual([]);
    await photograph(page, `manage-order-refused-${width}`, true);
    await customer.page.setViewportSize({ width, height });
    expect(await overflow(customer.page)).toBe(0);
    expect(await violations(customer.page)).toEqual([]);
    await photograph(customer.page, `order-refused-${width}`, true);
  }
  expect(problems).toEqual([]);
});

it('an order that is refused before it is paid can be cancelled but not paid', async () => {
  const { page, problems } = await shopperOf(PHONE);
  await register(page);
  const payment = await order(page, 'Donat kentang');
  await payment.getByRole('button', { name: 'Pay with QRIS' }).waitFor();
  await payment.close();
  await heading(page, 'Waiting for payment');
  await page.getByRole('link', { name: 'Go to the payment page' }).waitFor();
  expect((await takeStep(shownId(page), 'refused')).status).toBe(200);
  await heading(page, 'Refused');
  expect(await page.getByRole('link', { name: 'Go to the payment page' }).count()).toBe(0);
  await photograph(page, 'order-refused-unpaid-phone', true);
  await page.getByRole('button', { name: 'Cancel order' }).click();
  await page.getByRole('button', { name: 'Cancel the order' }).click();
  await heading(page, 'Cancelled');
  expect(problems).toEqual([]);
});

it('a customer finds a product by a part of its name, by keyboard, and gets back to what they searched', async () => {
  const { page, problems } = await shopperOf(PHONE);
  await register(page);
  await page.getByRole('searchbox', { name: 'Find bread or cake' }).fill('LAPIS');
  await page.keyboard.press('Enter');
  await sees(page, '1 product with “LAPIS” in the name.');
  expect(new URL(page.url()).search).toBe('?q=LAPIS');
  await page.getByRole('link', { name: 'Kue lapis legit' }).click();
  await heading(page, 'Kue lapis legit');
  await page.goBack();
  await sees(page, '1 product with “LAPIS” in the name.');
  expect(await page.getByRole('searchbox').inputValue()).toBe('LAPIS');
  await search(page, '50 % off_');
  await sees(page, 'Nothing that we bake has “50 % off_” in its name.');
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.getByRole('link', { name: 'Butter croissant' }).waitFor();
  expect(await page.locator('input:focus').inputValue()).toBe('');
  expect(problems).toEqual([]);
});
