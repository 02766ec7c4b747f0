import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { nullIfMissing } from '../support/files.js';
import { findCode, parseMail } from '../support/mail.js';
import { until } from '../support/wait.js';
import { expectGoodLayout, measureOverflow, takeScreenshot } from './support/layout.js';
import { openPage, search, waitForHeading, waitForText } from './support/page.js';
import { changeResponses } from './support/requests.js';
import { outbox, productCount } from './support/settings.js';
import { CROISSANT, placeOrder, placePaidOrder } from './support/shop.js';
import { createCustomer, createEmail, createVisitor, PHONE } from './support/shopper.js';
import { orderCart, submitRegistration } from './support/steps.js';

it('a customer registers, verifies the email address, scrolls through the list, orders and pays', async () => {
  const { page } = await createVisitor();
  const email = createEmail();

  await page.goto('/');
  await page.getByRole('link', { name: 'Create an account' }).click();
  await submitRegistration(page, email);
  await waitForHeading(page, 'Check your email');
  await page.getByLabel('Code').fill('000000');
  await page.getByRole('button', { name: 'Verify' }).click();
  await waitForText(page, 'Invalid or expired code.');
  const code = await readMailedCode(email);
  await page.getByLabel('Code').fill(`${code.slice(0, 3)} ${code.slice(3)}`);
  await page.getByRole('button', { name: 'Verify' }).click();
  await waitForText(page, 'Your email address is verified.');

  await waitForHeading(page, 'Baked before sunrise');
  await page.getByRole('link', { name: 'Kue lapis legit' }).waitFor();
  await takeScreenshot(page, 'catalog-desktop');
  const end = page.getByText(/^\d+ products in all\.$/);
  await until('the end of the list', async () => {
    await page.mouse.wheel(0, 50_000);
    return end.isVisible();
  });
  const cards = page.getByRole('list', { name: 'Products' }).getByRole('link');
  const count = await cards.count();
  expect(count).toBeGreaterThanOrEqual(productCount);
  await waitForText(page, `${count} products in all.`);

  await cards.last().click();
  await page.getByRole('button', { name: 'Add to cart' }).click();
  await page.goBack();
  // The storefront shows all loaded products again, so the browser can restore the scroll position.
  await end.waitFor();
  expect(await page.evaluate(() => window.scrollY)).toBeGreaterThan(1000);
  await page.getByRole('link', { name: 'Kue lapis legit' }).click();
  await waitForHeading(page, 'Kue lapis legit');
  await page.getByRole('button', { name: 'One more of Kue lapis legit' }).click();
  await page.getByRole('button', { name: 'Add to cart' }).click();
  await page.reload();
  await page.getByRole('link', { name: /^Cart/ }).click();
  await page.getByRole('button', { name: /^Remove (?!Kue lapis legit)/ }).click();
  await waitForText(page, 'Total, 2 pieces');

  const payment = await orderCart(page);
  await payment.getByRole('button', { name: 'Pay with QRIS' }).click();
  await waitForHeading(payment, 'settlement');
  await waitForHeading(page, 'Paid');
  await page.getByRole('link', { name: '← Your orders' }).click();
  await page.getByRole('link', { name: /2 × Kue lapis legit.*Paid/ }).waitFor();
  await waitForText(page, '1 order in all.');
});

it('a customer can cancel an order by keyboard', async () => {
  const { page } = await createCustomer({ viewport: PHONE });
  const { order_id } = await placeOrder(page);
  await page.goto(`/orders/${order_id}`);
  await page.getByRole('button', { name: 'Cancel order' }).click();
  await page.getByRole('dialog', { name: 'Cancel this order?' }).waitFor();
  await page.keyboard.press('Escape');
  await waitForHeading(page, 'Waiting for payment');
  await page.getByRole('button', { name: 'Cancel order' }).press('Enter');
  await page.getByRole('button', { name: 'Cancel the order' }).press('Enter');
  await waitForHeading(page, 'Cancelled');
  await page.locator('h1:focus', { hasText: 'Cancelled' }).waitFor();
});

it('a customer can try to pay again after a denied payment, and the message of a failed cancellation disappears', async () => {
  const { page } = await createCustomer({ viewport: PHONE });
  const { order_id, redirect_url } = await placeOrder(page);
  await page.goto(redirect_url ?? '');
  expect(await measureOverflow(page)).toBe(0);
  await page.getByRole('button', { name: 'Deny the payment' }).click();
  await waitForHeading(page, 'deny');
  await page.goto(`/orders/${order_id}`);
  await waitForHeading(page, 'Payment denied');
  await page.route('**/cancel', (route) => route.abort());
  await page.getByRole('button', { name: 'Cancel order' }).click();
  await page.getByRole('button', { name: 'Cancel the order' }).click();
  await waitForText(page, 'We cannot reach the bakery.');
  await page.getByRole('button', { name: 'Try again' }).click();
  await waitForHeading(page, 'Waiting for payment');
  await waitForText(page, /^Pay until/);
  expect(await page.getByText('We cannot reach the bakery.').count()).toBe(0);
});

it('the page of an order whose payment is authorized offers to cancel the order, but not to pay again', async () => {
  const { page } = await createCustomer();
  const { order_id, redirect_url } = await placeOrder(page);
  await page.goto(redirect_url ?? '');
  await page.getByRole('button', { name: 'Reserve on a card' }).click();
  await waitForHeading(page, 'authorize');
  await page.goto(`/orders/${order_id}`);
  await waitForHeading(page, 'Authorised');
  await page.getByRole('button', { name: 'Cancel order' }).waitFor();
  expect(
    await page.getByText(/^(Try again|Pay until|Go to the payment page|Get a payment page)/).count(),
  ).toBe(0);
});

it('a captured card payment is shown as paid only if the fraud check accepted it', async () => {
  const { page } = await createCustomer({ viewport: PHONE });
  const id = await placePaidOrder(page);
  let fraud_status = 'challenge';
  // The simulator accepts every card, so change the service's responses.
  await changeResponses<{ order?: object; orders?: object[] }>(page, /\/api\/orders(\/|\?|$)/, (data) => {
    for (const order of data.orders ?? [data.order ?? {}])
      Object.assign(order, { status: 'capture', fraud_status });
    return data;
  });
  await page.goto('/orders');
  await waitForText(page, 'Payment under review');
  await page.goto(`/orders/${id}`);
  await waitForHeading(page, 'Payment under review');
  await page.getByRole('heading', { name: 'Order summary' }).waitFor(); // The title of a paid order is "Receipt".
  expect(await page.getByRole('heading', { name: 'Progress' }).count()).toBe(0);
  fraud_status = 'accept';
  await waitForHeading(page, 'Paid'); // The page polls an order whose payment is under review.
  await page.getByRole('heading', { name: 'Progress' }).waitFor();
  fraud_status = 'deny';
  await page.goto(`/orders/${id}`);
  await waitForHeading(page, 'Payment denied');
});

it('a customer searches the catalog by keyboard, and gets back to the results from a product', async () => {
  const { page } = await createCustomer({ viewport: PHONE });
  await page.goto('/');
  await page.getByRole('searchbox', { name: 'Find bread or cake' }).fill('LAPIS');
  await page.keyboard.press('Enter');
  await waitForText(page, '1 product found.');
  expect(new URL(page.url()).search).toBe('?q=LAPIS');
  await page.getByRole('link', { name: 'Kue lapis legit' }).click();
  await waitForHeading(page, 'Kue lapis legit');
  await page.goBack();
  await waitForText(page, '1 product found.');
  expect(await page.getByRole('searchbox').inputValue()).toBe('LAPIS');
  await search(page, '50 % off_');
  await waitForText(page, 'Nothing that we bake has “50 % off_” in its name.');
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.getByRole('link', { name: 'Butter croissant' }).waitFor();
  expect(await page.locator('input:focus').inputValue()).toBe('');
});

it('an impossible quantity stays in its field with a message, and does not replace the last possible quantity', async () => {
  const { page } = await createCustomer({ viewport: PHONE });
  await openPage(page, `/products/${CROISSANT}`);
  await takeScreenshot(page, 'product-phone');
  const quantity = page.getByLabel('Quantity of Butter croissant');
  for (const impossible of ['0', '5000', '-1', '1.5']) {
    await quantity.fill('3');
    await quantity.fill(impossible);
    await waitForText(page, 'Choose 1 to 999 pieces. The quantity is still 3.');
    expect(await quantity.getAttribute('aria-invalid')).toBe('true');
  }
  await expectGoodLayout(page, 'impossible quantity');
  await quantity.clear();
  await quantity.pressSequentially('1000');
  await quantity.blur();
  expect(await quantity.inputValue()).toBe('1000');
  await waitForText(page, 'Choose 1 to 999 pieces. The quantity is still 100.');
  await page.getByRole('button', { name: 'One more of Butter croissant' }).click();
  expect(await quantity.inputValue()).toBe('101');
  expect(await page.getByText('Choose 1 to 999 pieces.').count()).toBe(0);
  await quantity.clear();
  await quantity.blur();
  expect(await quantity.inputValue()).toBe('101');
});

/** Waits for a mail to an address. Returns the code in it. */
function readMailedCode(email: string): Promise<string> {
  return until(`a mail to ${email}`, async () => {
    const names = (await nullIfMissing(readdir(outbox))) ?? [];
    const sources = names.filter((name) => name.endsWith('.eml')).map((name) => readFile(join(outbox, name)));
    const mails = await Promise.all(sources.map(async (source) => parseMail(await source)));
    const { text } = mails.find(({ to }) => to.includes(email)) ?? {};
    return text && findCode(text);
  });
}
