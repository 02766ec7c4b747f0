import { everyDay } from '../support/shop-settings.js';
import { expectGoodLayout } from './support/layout.js';
import { waitForHeading, waitForText } from './support/page.js';
import { changeShop, CROISSANT, inDays, useShopSettings } from './support/shop.js';
import { createCustomer, PHONE } from './support/shopper.js';
import { addToCartAndChoosePickup, choosePickup } from './support/steps.js';

/** The second day with pickup times. The first day may be today, and some of today's times may have passed. */
const SECOND_DAY = { index: 1 };

useShopSettings({ lead_minutes: 0 });

it('an order shows its pickup time, phone number and note, and the cart keeps the phone number', async () => {
  const { page } = await createCustomer({ viewport: PHONE });
  await addToCartAndChoosePickup(page, CROISSANT);
  await page.getByLabel('Day').selectOption(SECOND_DAY);
  await page.getByLabel('Time').selectOption('10:30');
  await page.getByLabel('Phone').fill('0812');
  await page.getByLabel('Note').fill('Please write "Selamat" on it');
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForText(page, 'Phone should be a phone number.');
  expect(await page.locator('input:focus').getAttribute('type')).toBe('tel');
  await expectGoodLayout(page, 'cart with a wrong phone number');
  await page.getByLabel('Phone').fill('0812-3456-7890');
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForHeading(page, 'Waiting for payment');
  await waitForText(page, /^\w+ \d+ \w+, 10:30$/);
  await page.getByRole('link', { name: '0812-3456-7890' }).waitFor();
  await waitForText(page, 'Please write "Selamat" on it');
  await page.goto('/orders');
  await page.getByRole('link', { name: /Pickup .*10:30/ }).waitFor();
  await addToCartAndChoosePickup(page, CROISSANT);
  expect(await page.getByLabel('Phone').inputValue()).toBe('0812-3456-7890');
  expect(await page.getByLabel('Note').inputValue()).toBe('');
});

it('the chosen pickup time is kept while nothing can be ordered, because the pickup times cannot be loaded', async () => {
  const { page } = await createCustomer();
  await addToCartAndChoosePickup(page, CROISSANT);
  await page.getByLabel('Day').selectOption(SECOND_DAY);
  await page.getByLabel('Time').selectOption('10:30');
  await page.route('**/api/shop', (route) => route.abort());
  await page.reload();
  await waitForText(page, 'We cannot reach the bakery.');
  expect(await page.getByRole('button', { name: 'Order and pay' }).count()).toBe(0);
  await page.unroute('**/api/shop');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForText(page, /^\w+ \d+ \w+, 10:30$/);
});

it.each([
  [
    'every half hour inside the opening hours, and at the start of hours without a half hour',
    { hours: everyDay(['07:10', '08:31'], ['09:05', '09:25']) },
    ['07:30', '08:00', '08:30', '09:05'],
  ],
  [
    'for each slot of 15 minutes',
    { hours: everyDay(['07:00', '07:45']), slot_minutes: 15 as const },
    ['07:00', '07:15', '07:30'],
  ],
])('the cart offers pickup times %s', async (_which, settings, times) => {
  await changeShop(settings);
  const { page } = await createCustomer();
  await addToCartAndChoosePickup(page, CROISSANT);
  await page.getByLabel('Day').selectOption(SECOND_DAY);
  expect(await page.getByLabel('Time').getByRole('option').allTextContents()).toEqual(times);
});

it('the cart offers days with their dates, so that a wrong clock of the device misleads nobody', async () => {
  const { page } = await createCustomer();
  await page.clock.install({ time: inDays(1) });
  await addToCartAndChoosePickup(page, CROISSANT);
  const days = await page.getByLabel('Day').getByRole('option').allTextContents();
  expect(days).toContainEqual(expect.stringMatching(/^Today, /));
  for (const day of days) expect(day).toMatch(/\w+ \d+ \w+$/);
});

it('a customer whose pickup time has become impossible can order for another time', async () => {
  const { page } = await createCustomer();
  await addToCartAndChoosePickup(page, CROISSANT);
  const day = page.getByLabel('Day');
  await day.selectOption(SECOND_DAY);
  const chosenDay = await day.inputValue();
  await changeShop({ closed: [chosenDay] });
  await page.getByRole('button', { name: 'Order and pay' }).click();
  const message = page.getByText('Pickup is not possible at this time.');
  await message.waitFor();
  await page.locator(`option[value="${chosenDay}"]`).waitFor({ state: 'detached' });
  await page.locator('select:focus').and(day).waitFor();
  await choosePickup(page);
  await message.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForHeading(page, 'Waiting for payment');
});

it('a customer whose pickup time has become impossible keeps the day, and chooses another time of it', async () => {
  const { page } = await createCustomer();
  await addToCartAndChoosePickup(page, CROISSANT);
  const day = page.getByLabel('Day');
  await day.selectOption(SECOND_DAY);
  const chosenDay = await day.inputValue();
  const time = page.getByLabel('Time');
  await time.selectOption('10:30');
  await changeShop({ hours: everyDay(['14:00', '15:00']) });
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForText(page, 'Pickup is not possible at this time.');
  await page.locator('select:focus').and(time).waitFor();
  expect(await time.getByRole('option').allTextContents()).toEqual(['Choose a time', '14:00', '14:30']);
  expect(await day.inputValue()).toBe(chosenDay);
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForText(page, 'Choose when you will collect your order.');
  await time.selectOption('14:30');
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForHeading(page, 'Waiting for payment');
  await waitForText(page, /^\w+ \d+ \w+, 14:30$/);
});

it('an order that is rejected because the shop was paused is explained above the button, and the focus stays in the page', async () => {
  const { page } = await createCustomer();
  await addToCartAndChoosePickup(page, CROISSANT);
  await changeShop({ paused_until: inDays(1).toISOString() });
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForText(page.getByRole('alert'), 'The shop takes no orders at the moment.');
  await page.locator('h1:focus').waitFor();
});
