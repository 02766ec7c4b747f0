import type { Locator, Page } from 'playwright-core';
import { expectGoodLayout } from './support/layout.js';
import { clickAgain, waitForHeading, waitForText } from './support/page.js';
import { changeResponses, holdRequests, LIKE_BROWSER } from './support/requests.js';
import { placeOrderPaidTwice, placePaidOrder, refundByHand } from './support/shop.js';
import { createCustomer, openAsAdmin } from './support/shopper.js';

/** Places an order for a new customer, and opens it as this customer and as the administrator. */
async function openOrder(place: (page: Page) => Promise<string>) {
  const { page: customerPage } = await createCustomer();
  const id = await place(customerPage);
  await customerPage.goto(`/orders/${id}`);
  const { page: adminPage } = await openAsAdmin(`/manage/orders/${id}`);
  return { id, customerPage, adminPage };
}

/** Submits the refund form in a part of a page, and confirms. Opens the form if it is closed. */
async function refund(
  part: Locator,
  { amount, byHand = false }: { amount?: string; byHand?: boolean } = {},
): Promise<void> {
  const amountField = part.getByLabel('Amount in rupiah');
  if (!(await amountField.isVisible())) await part.locator('summary', { hasText: 'Refund' }).click();
  if (amount !== undefined) await amountField.fill(amount);
  if (byHand) await part.getByLabel('I have returned the money by hand').check();
  await part.getByRole('button', { name: 'Refund', exact: true }).click();
  const confirm = byHand ? 'Record the refund' : 'Refund the money';
  await part.getByRole('button', { name: confirm }).click();
}

function getPayments(page: Page) {
  return page.getByRole('list', { name: 'Payments of this order' });
}

function getHistory(page: Page) {
  return page.getByRole('list', { name: 'Payment history' });
}

it('the question before a refusal offers a refund of a paid order', async () => {
  const { adminPage, customerPage } = await openOrder(placePaidOrder);
  await adminPage.getByRole('button', { name: 'Refuse' }).click();
  await adminPage.getByRole('dialog', { name: 'Refuse this order?' }).waitFor();
  await expectGoodLayout(adminPage, 'refusal');
  await adminPage.getByRole('button', { name: 'Keep the order' }).click();
  await adminPage.getByRole('button', { name: 'Refuse' }).click();
  await adminPage.getByRole('button', { name: /^Refuse and refund Rp\s24\.000$/ }).click();
  await getHistory(adminPage).getByText('Refunded', { exact: true }).first().waitFor();
  await customerPage.reload();
  await waitForHeading(customerPage, 'Refused');
  await waitForText(customerPage, /Your payment of Rp\s24\.000 is on its way back\./);
  await expectGoodLayout(customerPage, 'refused order');
});

it('a double-click does not answer the question that its first click asks', async () => {
  const { adminPage } = await openOrder(placePaidOrder);
  await adminPage.getByRole('button', { name: 'Refuse' }).click();
  const confirm = adminPage.getByRole('button', { name: 'Refuse without a refund' });
  await confirm.hover();
  await clickAgain(adminPage);
  await adminPage.getByRole('dialog', { name: 'Refuse this order?' }).waitFor();
  await adminPage.getByRole('button', { name: 'Keep the order' }).click();
  await waitForText(adminPage.getByRole('region', { name: 'Fulfilment' }), 'New');
});

it('a refusal whose refund fails, because a colleague has just refunded a part, says so', async () => {
  const { id, adminPage } = await openOrder(placePaidOrder);
  await adminPage.getByRole('button', { name: 'Refuse' }).click();
  await refundByHand(id, 1_000);
  await adminPage.getByRole('button', { name: /^Refuse and refund/ }).click();
  await adminPage.getByRole('alert').filter({ hasText: /\S/ }).first().waitFor();
  await waitForText(adminPage, 'Refused');
});

it('the refund form of a refused order cannot be sent while the refund that the refusal has started is running', async () => {
  const { adminPage } = await openOrder(placePaidOrder);
  const release = await holdRequests(adminPage, '**/refund');
  await adminPage.getByRole('button', { name: 'Refuse' }).click();
  await adminPage.getByRole('button', { name: /^Refuse and refund/ }).click();
  await waitForText(adminPage, 'The order is refused and not refunded in full.');
  const button = adminPage.getByRole('button', { name: 'Refund', exact: true });
  expect(await button.getAttribute('aria-disabled')).toBe('true');
  await release();
  await button.waitFor({ state: 'detached' });
  await getHistory(adminPage).getByText('Refunded', { exact: true }).first().waitFor();
});

it('refusing a paid order without a refund makes a refund due, until refunds return everything', async () => {
  const { id, adminPage, customerPage } = await openOrder(placePaidOrder);
  const number = id.slice(0, 8).toUpperCase();
  await adminPage.getByRole('button', { name: 'Refuse' }).click();
  await adminPage.getByRole('button', { name: 'Refuse without a refund' }).click();
  await waitForText(adminPage, 'The order is refused and not refunded in full.');
  await customerPage.reload();
  await waitForText(customerPage, /We will return your payment of Rp\s24\.000\./);
  await adminPage.goto('/manage/orders?refund=due');
  await adminPage.getByRole('link', { name: new RegExp(`${number}.*Refund due`) }).click();

  await adminPage.getByLabel('Amount in rupiah').fill('24.001');
  expect(await adminPage.getByRole('button', { name: 'Refund', exact: true }).isDisabled()).toBe(true);
  await expectGoodLayout(adminPage, 'refund');
  await refund(adminPage.getByRole('main'), { amount: '10.000', byHand: true });
  await waitForText(getHistory(adminPage), /Rp\s10\.000/);
  await customerPage.reload();
  await waitForText(customerPage, /Rp\s10\.000 of Rp\s24\.000 is on its way back\. The rest follows\./);

  expect(await adminPage.getByLabel('Amount in rupiah').inputValue()).toBe('14000');
  await refund(adminPage.getByRole('main'));
  await adminPage.getByText('The order is refused and not refunded in full.').waitFor({ state: 'detached' });
});

it('staff return a second payment by hand if the gateway refuses to return it', async () => {
  const { adminPage } = await openOrder(placeOrderPaidTwice);
  const payments = getPayments(adminPage);
  const surplus = payments.getByText('The customer has paid twice. Return this payment.');
  await surplus.waitFor();
  expect(await payments.getByRole('listitem').count()).toBe(2);
  await expectGoodLayout(adminPage, 'surplus');
  await refund(payments);
  await waitForText(adminPage, 'The payment partner cannot refund this payment.');
  const rejected = getHistory(adminPage)
    .getByRole('listitem')
    .filter({ hasText: 'The money was not returned:' });
  await waitForText(rejected, /: the simulator refunds no bank_transfer/);
  await waitForText(rejected, /^Rp\s24\.000$/);

  const refunds = adminPage.getByText(/^Refunded Rp\s10\.000 by /);
  for (const index of [0, 1]) {
    await refund(payments, { amount: '10.000', byHand: true });
    await refunds.nth(index).waitFor();
  }
  expect(await payments.getByLabel('Amount in rupiah').inputValue()).toBe('4000');
  await refund(payments, { byHand: true });
  await surplus.waitFor({ state: 'detached' });
  await waitForText(adminPage, /^Refunded Rp\s4\.000 by /);
});

it.each([
  ['a part of the payment', 10_000, 'This amount cannot be refunded.'],
  ['the whole payment', 24_000, 'Somebody else has already refunded this payment.'],
])('a full refund after a colleague has refunded %s is explained', async (_what, amount, message) => {
  const { id, adminPage } = await openOrder(placePaidOrder);
  await adminPage.route('**/refund', async (route) => {
    await refundByHand(id, amount);
    await route.continue();
  });
  await refund(adminPage.getByRole('main'));
  await waitForText(adminPage, message);
  await adminPage.locator('h1:focus').waitFor();
});

it('staff see the method of a payment, and that the payment is under review or denied, not that it is paid', async () => {
  const { id, adminPage } = await openOrder(placeOrderPaidTwice);
  const capture = <Item>(item: Item, index: number) => ({
    ...item,
    payment_type: index % 2 === 0 ? 'gopay' : 'shopeepay',
    status: 'capture',
    transaction_status: 'capture',
    fraud_status: index % 2 === 0 ? 'challenge' : 'deny',
  });
  await changeResponses<{ transactions: object[]; notifications: object[] }>(
    adminPage,
    `**/api/admin/orders/${id}`,
    ({ transactions, notifications, ...data }) => ({
      ...data,
      transactions: transactions.map(capture),
      notifications: notifications.map(capture),
    }),
  );
  await adminPage.reload();
  for (const list of [getPayments(adminPage), getHistory(adminPage)]) {
    await waitForText(list, /^Payment under review/);
    await waitForText(list, /^Payment denied/);
    expect(await list.getByText(/^Paid/).count()).toBe(0);
  }
  await waitForText(getPayments(adminPage), /^Payment under review GoPay$/);
  await waitForText(getPayments(adminPage), /^Payment denied ShopeePay$/);
});

it('the next refund cannot start while the page reloads the order after a refund', async () => {
  const { id, adminPage } = await openOrder(placePaidOrder);
  await adminPage.locator('summary', { hasText: 'Refund' }).click();
  await adminPage.getByLabel('Amount in rupiah').fill('10.000');
  const release = await holdRequests(adminPage, `**/api/admin/orders/${id}`);
  const button = adminPage.getByRole('button', { name: 'Refund', exact: true });
  await button.click();
  let isRefunded = false;
  adminPage.on('response', (response) => (isRefunded ||= response.url().endsWith('/refund')));
  const reloading = adminPage.waitForRequest((request) => isRefunded && request.url().endsWith(id));
  await adminPage.getByRole('button', { name: 'Refund the money' }).click();
  await reloading; // The page still shows the amount before the refund.
  expect(await button.getAttribute('aria-disabled')).toBe('true');
  await release();
  await waitForText(getHistory(adminPage), /Rp\s10\.000/);
});

it('a refund has the same idempotency key until it succeeds, is shown as made although its response was lost, and the next refund has another key', async () => {
  const { adminPage } = await openOrder(placePaidOrder);
  const main = adminPage.getByRole('main');
  const outcomes = ['not sent', 'forbidden', 'response lost'];
  const keys: (string | undefined)[] = [];
  await adminPage.route('**/refund', async (route) => {
    keys.push(route.request().headers()['idempotency-key']);
    const outcome = outcomes.shift();
    if (outcome === undefined) return route.continue();
    const forbidden = { status: 'fail', errors: { code: 403, message: 'this origin is not allowed' } };
    if (outcome === 'forbidden') return route.fulfill({ status: 403, json: forbidden });
    if (outcome === 'response lost') await route.fetch(LIKE_BROWSER);
    return route.abort();
  });
  // The page reloads the order after a failure too, so it shows the refund whose response was lost.
  const texts = [
    /cannot reach/,
    /origin is not allowed/,
    /^Rp\s10\.000 is refunded\.$/,
    /Rp\s20\.000 in total/,
  ];
  for (const text of texts) {
    await refund(main, { amount: '10.000' }); // A successful refund closes the form, and `refund` opens it again.
    await waitForText(adminPage, text);
  }
  const [key, , , nextKey] = keys;
  expect(keys).toEqual([key, key, key, nextKey]);
  expect(key).toEqual(expect.any(String));
  expect(nextKey).not.toBe(key);
});

it('the same refund by two administrators at once returns the money once', async () => {
  const { id, adminPage } = await openOrder(placePaidOrder);
  const { page: colleaguePage } = await openAsAdmin(`/manage/orders/${id}`);
  const pages = [adminPage, colleaguePage];
  // Both requests must be sent before a page shows the result of the other one.
  const releases = await Promise.all(pages.map((page) => holdRequests(page, '**/refund')));
  const responses = pages.map((page) => page.waitForResponse('**/refund'));
  for (const page of pages) await refund(page.getByRole('main'), { amount: '10.000' });
  await Promise.all(releases.map((release) => release()));
  for (const response of await Promise.all(responses)) expect(response.status()).toBe(200);
  for (const page of pages) await waitForText(page, /^Rp\s10\.000 is refunded\.$/);
});

it('a refund that is sent again while the page cannot reload the order has the same idempotency key', async () => {
  const { id, adminPage } = await openOrder(placePaidOrder);
  await adminPage.route(`**/api/admin/orders/${id}`, (route) => route.abort());
  const keys: (string | undefined)[] = [];
  for (let time = 0; time < 2; time += 1) {
    const response = adminPage.waitForResponse('**/refund');
    await refund(adminPage.getByRole('main'), { amount: '2.000' });
    expect((await response).status()).toBe(200);
    keys.push((await response).request().headers()['idempotency-key']);
    await adminPage.locator('button[aria-disabled="true"]').waitFor({ state: 'detached' });
  }
  expect(keys[0]).toEqual(expect.any(String));
  expect(keys[1]).toBe(keys[0]);
});
