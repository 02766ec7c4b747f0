import type { Page } from 'playwright-core';
import { changePrice, changeShop, createProduct, setAvailability } from './support/service.js';
import {
  findViolations,
  newShopper,
  PHONE,
  register,
  takeScreenshot,
  waitForHeading,
  waitForText,
} from './support/shopper.js';

/** Adds a product to the cart and opens the cart. */
async function addToCart(page: Page, productId: number): Promise<void> {
  await page.goto(`/products/${productId}`);
  await page.getByRole('button', { name: 'Add to cart' }).click();
  // The cart loads its products when it is opened.
  const loaded = page.waitForResponse(new RegExp(`/api/products/${productId}$`));
  await page.getByRole('link', { name: /^Cart/ }).click();
  await waitForHeading(page, 'Your cart');
  await (await loaded).finished();
}

it('a customer chooses day and time of the pickup, and the phone number is remembered', async () => {
  const { page, problems } = await newShopper(PHONE);
  const id = await createProduct(`Roti jemput ${Date.now()}`, 10_000);
  await register(page);
  await addToCart(page, id);
  const day = page.getByLabel('Day');
  const second = (await day.getByRole('option').nth(1).textContent()) ?? '';
  await day.selectOption(second);
  await page.getByLabel('Time').selectOption('10:30');
  await page.getByLabel('Phone').fill('0812');
  await page.getByLabel('Note').fill('Please write "Selamat" on it');
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForText(page, 'Phone should be a phone number.');
  expect(await page.locator('input:focus').getAttribute('type')).toBe('tel');
  expect(await findViolations(page)).toEqual([]);
  await takeScreenshot(page, 'cart-pickup-phone', true);
  await page.getByLabel('Phone').fill('0812-3456-7890');
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForHeading(page, 'Waiting for payment');
  await waitForText(page, /^\w+ \d+ \w+, 10:30$/);
  await waitForText(page, '0812-3456-7890');
  await waitForText(page, 'Please write "Selamat" on it');
  await takeScreenshot(page, 'order-pickup-phone', true);
  await page.goto('/orders');
  await page.getByRole('link', { name: /Pickup .*10:30/ }).waitFor();

  await addToCart(page, id);
  expect(await page.getByLabel('Phone').inputValue()).toBe('0812-3456-7890');
  expect(await page.getByLabel('Note').inputValue()).toBe('');
  expect(problems).toEqual([]);
});

it('pickup times are offered every half hour inside the opening hours', async () => {
  const hours = Object.fromEntries(
    ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].map((day) => [day, [['07:10', '08:31']]]),
  );
  const restore = await changeShop({ hours, lead_minutes: 0 });
  try {
    const { page } = await newShopper();
    const id = await createProduct(`Roti setengah ${Date.now()}`, 10_000);
    await register(page);
    await addToCart(page, id);
    const day = page.getByLabel('Day');
    await day.selectOption({ index: 1 });
    const times = await page.getByLabel('Time').getByRole('option').allTextContents();
    expect(times).toEqual(['07:30', '08:00', '08:30']);
  } finally {
    await restore();
  }
});

it('a pickup time that has become impossible is reported, and the cart offers the current ones', async () => {
  const { page, problems } = await newShopper();
  const id = await createProduct(`Roti libur ${Date.now()}`, 10_000);
  await register(page);
  await addToCart(page, id);
  const day = page.getByLabel('Day');
  await day.selectOption({ index: 1 });
  const chosen = await day.inputValue();
  const restore = await changeShop({ closed: [chosen] });
  try {
    await page.getByRole('button', { name: 'Order and pay' }).click();
    await waitForText(page, 'Pickup is not possible at this time.');
    await page.waitForFunction((date) => document.querySelector(`option[value="${date}"]`) === null, chosen);
    await page.getByRole('button', { name: 'Order and pay' }).click();
    await waitForHeading(page, 'Waiting for payment');
    expect(problems).toEqual([]);
  } finally {
    await restore();
  }
});

it('a price that changed while the cart was open is shown before anything is ordered', async () => {
  const { page, problems } = await newShopper();
  const name = `Kue naik ${Date.now()}`;
  const id = await createProduct(name, 25_000);
  await register(page);
  await addToCart(page, id);
  await changePrice(id, name, 30_000);
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForText(page, 'A price has changed. Please check the new total and order again.');
  await waitForText(page, /Rp\s30\.000 each, was Rp\s25\.000/);
  await takeScreenshot(page, 'cart-new-price-desktop', true);
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForHeading(page, 'Waiting for payment');
  await waitForText(page, /Rp\s30\.000/);
  expect(problems).toEqual([]);
});

it('a product that became unavailable is shown as sold out and left out of the order', async () => {
  const { page, problems } = await newShopper();
  const [kept, gone] = [
    await createProduct(`Roti tetap ${Date.now()}`, 10_000),
    await createProduct(`Roti habis ${Date.now()}`, 20_000),
  ];
  await register(page);
  await addToCart(page, kept);
  await addToCart(page, gone);
  await setAvailability(gone, false);
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForText(page, 'Sold out. It is left out of your order.');
  await waitForText(page, 'Total, 1 piece');
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForHeading(page, 'Waiting for payment');
  await page.goto(`/products/${gone}`);
  await waitForText(page, 'This product is sold out or no longer baked.');
  expect(problems).toEqual([]);
});
