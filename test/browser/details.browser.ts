import {
  findViolations,
  measureOverflow,
  newShopper,
  PHONE,
  register,
  takeScreenshot,
  waitForHeading,
  waitForText,
} from './support/shopper.js';
import { countPages, orderProduct } from './support/steps.js';

it('an impossible quantity is reported and the last possible one is kept', async () => {
  const { page, problems } = await newShopper(PHONE);
  await register(page);
  await page.getByRole('link', { name: 'Donat kentang' }).click();
  await waitForHeading(page, 'Donat kentang');
  const quantity = page.getByLabel('Quantity of Donat kentang');
  for (const impossible of ['0', '5000', '-1', '1.5']) {
    await quantity.fill('3');
    await quantity.fill(impossible);
    await waitForText(page, 'Choose 1 to 999 pieces. The quantity is still 3.');
    expect(await quantity.getAttribute('aria-invalid')).toBe('true');
    expect(await findViolations(page)).toEqual([]);
  }
  await quantity.blur();
  expect(await quantity.inputValue()).toBe('3');
  await page.getByRole('button', { name: 'One more of Donat kentang' }).click();
  expect(await quantity.inputValue()).toBe('4');
  expect(await page.getByText('Choose 1 to 999 pieces.').count()).toBe(0);
  expect(problems).toEqual([]);
});

it('the focus moves to the heading when an order is cancelled by keyboard', async () => {
  const { page, problems } = await newShopper();
  await register(page);
  await (await orderProduct(page, 'Donat kentang')).close();
  await waitForHeading(page, 'Waiting for payment');
  await page.getByRole('button', { name: 'Cancel order' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Cancel the order' }).focus();
  await page.keyboard.press('Enter');
  await waitForHeading(page, 'Cancelled');
  await page.locator('h1:focus').waitFor();
  expect(problems).toEqual([]);
});

it('an order shows the short number that the list shows, and its full id', async () => {
  const { page } = await newShopper();
  await register(page);
  await (await orderProduct(page, 'Donat kentang')).close();
  await waitForHeading(page, 'Waiting for payment');
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  const number = id.slice(0, 8).toUpperCase();
  await waitForText(page, `Order ${number}, in full ${id}`);
  await page.getByRole('link', { name: '← Your orders' }).click();
  await page.getByRole('link', { name: new RegExp(number) }).waitFor();
});

it('an order prints on one A4 page and on the 80 mm paper of a receipt printer', async () => {
  const { page } = await newShopper();
  await register(page);
  const payment = await orderProduct(page, 'Donat kentang');
  await payment.getByRole('button', { name: 'Pay with QRIS' }).click();
  await waitForHeading(page, 'Paid');
  expect(countPages(await page.pdf({ format: 'A4' }))).toBe(1);
  expect(countPages(await page.pdf({ width: '80mm', height: '200mm' }))).toBe(1);
  await page.emulateMedia({ media: 'print' });
  expect(await page.getByRole('button', { name: 'Print' }).isVisible()).toBe(false);
  await page.setViewportSize({ width: 280, height: 800 });
  expect(await measureOverflow(page)).toBe(0);
  await takeScreenshot(page, 'order-receipt-80mm', true);
});

it('every badge stays inside its card with text of twice the size', async () => {
  const { page } = await newShopper(PHONE);
  await register(page);
  await (await orderProduct(page, 'Donat kentang')).close();
  await page.goto('/orders');
  await waitForText(page, '1 order in all.');
  await page.evaluate(() => {
    document.documentElement.style.fontSize = '200%';
  });
  expect(await measureOverflow(page)).toBe(0);
  const outside = await page.evaluate(
    () =>
      [...document.querySelectorAll('.badge')].filter((badge) => {
        const card = badge.closest('.row')?.getBoundingClientRect();
        return card === undefined || badge.getBoundingClientRect().right > card.right;
      }).length,
  );
  expect(outside).toBe(0);
  await takeScreenshot(page, 'orders-large-text');
});

it('robots.txt keeps search engines away from personal pages', async () => {
  const { page } = await newShopper();
  const response = await page.goto('/robots.txt');
  expect(response?.headers()['content-type']).toContain('text/plain');
  expect(await response?.text()).toContain('Disallow: /orders');
});
