import type { Page } from 'playwright-core';
import {
  findViolations,
  newShopper,
  PHONE,
  register,
  type Shopper,
  signInAsAdmin,
  takeScreenshot,
  waitForHeading,
  waitForText,
} from './support/shopper.js';
import { buyProduct, orderProduct, readOrderId } from './support/steps.js';

/** A customer with a paid order of Rp 24.000, and an administrator who sees it. */
async function openPaidOrder(): Promise<{ customer: Shopper; page: Page; problems: readonly string[] }> {
  const customer = await newShopper(PHONE);
  await register(customer.page);
  const id = await buyProduct(customer.page, 'Butter croissant');
  const { page, problems } = await newShopper();
  await signInAsAdmin(page);
  await page.goto(`/manage/orders/${id}`);
  await waitForHeading(page, 'Order');
  return { customer, page, problems };
}

it('refusing a paid order asks about the refund, and the customer sees what happens to the money', async () => {
  const { customer, page, problems } = await openPaidOrder();
  await page.getByRole('button', { name: 'Refuse' }).click();
  await page.getByRole('dialog', { name: 'Refuse this order?' }).waitFor();
  expect(await findViolations(page)).toEqual([]);
  await takeScreenshot(page, 'refuse-desktop');
  await page.getByRole('button', { name: 'Keep the order' }).click();
  await page.getByRole('button', { name: 'Refuse' }).click();
  await page.getByRole('button', { name: /^Refuse and refund Rp\s24\.000$/ }).click();
  await page
    .getByRole('list', { name: 'Payment history' })
    .getByText('refund', { exact: true })
    .first()
    .waitFor();
  await waitForText(page, 'Refunded');
  await customer.page.reload();
  await waitForHeading(customer.page, 'Refused');
  await waitForText(customer.page, /Your payment of Rp\s24\.000 is on its way back\./);
  expect(await findViolations(customer.page)).toEqual([]);
  await takeScreenshot(customer.page, 'order-refused-refunded-phone', true);
  expect([...problems, ...customer.problems]).toEqual([]);
});

it('a refused order without a refund is marked as due until the rest is refunded by hand', async () => {
  const { customer, page, problems } = await openPaidOrder();
  await page.getByRole('button', { name: 'Refuse' }).click();
  await page.getByRole('button', { name: 'Refuse without a refund' }).click();
  await waitForText(page, 'The order is refused and not refunded in full.');
  await customer.page.reload();
  await waitForText(customer.page, /We will return your payment of Rp\s24\.000\./);
  const number = readOrderId(page).slice(0, 8).toUpperCase();
  await page.goto('/manage/orders?refund=due');
  await page
    .getByRole('link', { name: new RegExp(`Refund due.*|${number}.*`) })
    .first()
    .waitFor();
  await page.getByRole('link', { name: new RegExp(number) }).click();

  await page.getByLabel('Amount in rupiah').fill('24.001');
  expect(await page.getByRole('button', { name: 'Refund', exact: true }).isDisabled()).toBe(true);
  await page.getByLabel('Amount in rupiah').fill('10.000');
  await page.getByLabel('I have returned the money by hand').check();
  expect(await findViolations(page)).toEqual([]);
  await takeScreenshot(page, 'refund-desktop', true);
  await page.getByRole('button', { name: 'Refund', exact: true }).click();
  await page.getByRole('button', { name: 'Record the refund' }).click();
  await page
    .getByRole('list', { name: 'Payment history' })
    .getByText(/Rp\s10\.000/)
    .waitFor();
  await customer.page.reload();
  await waitForText(customer.page, /Rp\s10\.000 of Rp\s24\.000 is on its way back\. The rest follows\./);

  expect(await page.getByLabel('Amount in rupiah').inputValue()).toBe('14000');
  await page.getByRole('button', { name: 'Refund', exact: true }).click();
  await page.getByRole('button', { name: 'Refund the money' }).click();
  await page.getByText('The order is refused and not refunded in full.').waitFor({ state: 'detached' });
  expect([...problems, ...customer.problems]).toEqual([]);
});

it('an order that is refused before it is paid is cancelled at the payment partner', async () => {
  const customer = await newShopper(PHONE);
  await register(customer.page);
  await (await orderProduct(customer.page, 'Donat kentang')).close();
  await waitForHeading(customer.page, 'Waiting for payment');
  const { page, problems } = await newShopper();
  await signInAsAdmin(page);
  await page.goto(`/manage/orders/${readOrderId(customer.page)}`);
  await page.getByRole('button', { name: 'Refuse' }).click();
  await page.getByRole('button', { name: 'Refuse the order' }).click();
  await waitForText(page, 'Cancelled');
  await waitForHeading(customer.page, 'Refused');
  await waitForText(customer.page, 'You do not have to pay for it.');
  expect(await customer.page.getByRole('link', { name: 'Go to the payment page' }).count()).toBe(0);
  expect(await customer.page.getByRole('button', { name: 'Cancel order' }).count()).toBe(0);
  expect([...problems, ...customer.problems]).toEqual([]);
});
