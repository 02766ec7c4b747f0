import type { Locator, Page } from 'playwright-core';
import { DEFAULT_SHOP, everyDay } from '../support/shop-settings.js';
import { expectGoodLayout } from './support/layout.js';
import { openPage, waitForHeading, waitForText } from './support/page.js';
import { holdRequests, loseFirstResponse } from './support/requests.js';
import {
  changeShop,
  inDays,
  makeUnique,
  placeOrder,
  placePaidOrder,
  readShop,
  toShopDate,
  useShopSettings,
} from './support/shop.js';
import { createAdmin, createCustomer, openAsAdmin, PHONE } from './support/shopper.js';

useShopSettings(DEFAULT_SHOP);

function formatWeekday(instant: Date, weekday: 'short' | 'long'): string {
  return new Intl.DateTimeFormat('en-GB', { timeZone: 'Asia/Jakarta', weekday }).format(instant);
}

async function save(page: Page): Promise<void> {
  // Wait for the response too: the message may be that of an earlier save.
  const response = page.waitForResponse((candidate) => candidate.request().method() === 'PUT');
  await page.getByRole('button', { name: 'Save' }).click();
  await response;
  await waitForText(page, 'The settings of the shop are saved.');
}

it('opening hours can be typed as 6.30 or 12, and can end at 24:00', async () => {
  const { page } = await openAsAdmin('/manage/shop');
  const monday = page.getByRole('group', { name: 'Monday' });
  await monday.getByLabel('Monday, opens').fill('6.30');
  await monday.getByLabel('Monday, closes').fill('12');
  await monday.getByRole('button', { name: 'Add hours on Monday' }).click();
  await monday.getByLabel('Monday, opens').nth(1).fill('17:00');
  await monday.getByLabel('Monday, closes').nth(1).fill('24:00');
  await page.getByRole('button', { name: 'Remove 07:00 to 18:00 on Tuesday' }).click();
  await page.getByRole('group', { name: 'Tuesday' }).getByText('Closed').waitFor();
  await save(page);
  const mon = [
    ['06:30', '12:00'],
    ['17:00', '24:00'],
  ];
  expect(await readShop()).toMatchObject({ hours: { ...DEFAULT_SHOP.hours, mon, tue: [] } });
  await page.reload();
  expect(await monday.getByLabel('Monday, closes').nth(1).inputValue()).toBe('24:00');
});

it('the focus moves to the opening hours and their message if one of them is wrong, and Enter saves a corrected one', async () => {
  const { page } = await createAdmin({ viewport: PHONE });
  await openPage(page, '/manage/shop');
  await page.getByLabel('Monday, closes').fill('25');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('legend:focus').getByText('Opening hours').waitFor();
  const message = await page.getByText('Monday: at most 5 periods').boundingBox();
  expect(message?.y).toBeGreaterThan(0);
  expect(message?.y).toBeLessThan(PHONE.height);
  await page.getByLabel('Monday, closes').fill('19');
  await page.getByLabel('Monday, closes').press('Enter');
  await waitForText(page, 'The settings of the shop are saved.');
  expect((await readShop()).hours.mon).toEqual([['07:00', '19:00']]);
});

it('closed dates are saved, also a date for which "Add date" was not pressed', async () => {
  const closed = toShopDate(inDays(20));
  const { page } = await openAsAdmin('/manage/shop');
  await page.getByLabel('Closed on').fill(closed);
  await page.getByRole('button', { name: 'Add date' }).click();
  await page.getByRole('button', { name: `Remove ${closed}` }).waitFor();
  await page.getByLabel('Closed on').fill('2030-12-25');
  await save(page);
  expect(await page.getByLabel('Closed on').inputValue()).toBe('');
  expect((await readShop()).closed).toEqual([closed, '2030-12-25']);
  await page.reload();
  await page.getByRole('button', { name: `Remove ${closed}` }).waitFor();
});

it('a double-click on "Remove" removes one closed date, one range or the hours of one window', async () => {
  const [first, second] = [toShopDate(inDays(20)), toShopDate(inDays(22))];
  const closed_ranges = [first, second].map((date) => ({ from: date, to: date, reason: null }));
  const hours = everyDay(['07:00', '12:00'], ['13:00', '18:00']);
  await changeShop({ closed: [first, second], closed_ranges, hours });
  const { page } = await openAsAdmin('/manage/shop');
  await page.getByRole('button', { name: `Remove ${first}`, exact: true }).dblclick();
  await page.getByRole('button', { name: `Remove ${first} – ${first}` }).dblclick();
  await page.getByRole('button', { name: 'Remove 07:00 to 12:00 on Monday' }).dblclick();
  await save(page);
  expect(await readShop()).toMatchObject({
    closed: [second],
    closed_ranges: closed_ranges.slice(1),
    hours: { ...hours, mon: [['13:00', '18:00']] },
  });
});

it('a range whose first date is typed digit by digit ends on that date', async () => {
  const { page } = await openAsAdmin('/manage/shop');
  const holidays = page.getByRole('group', { name: 'Closed from – to' });
  await holidays.getByRole('button', { name: 'Add holidays' }).click();
  await holidays.getByLabel('From', { exact: true }).pressSequentially('12122030'); // the same in every order of day and month
  await save(page);
  const range = { from: '2030-12-12', to: '2030-12-12', reason: null };
  expect((await readShop()).closed_ranges).toEqual([range]);
});

it('ranges of closed dates are saved in order and without an empty one, and adding or removing one leaves the focus in the form', async () => {
  const [from, to, later] = [toShopDate(inDays(20)), toShopDate(inDays(22)), toShopDate(inDays(30))];
  const { page } = await openAsAdmin('/manage/shop');
  const holidays = page.getByRole('group', { name: 'Closed from – to' });
  const add = holidays.getByRole('button', { name: 'Add holidays' });
  const starts = holidays.getByLabel('From', { exact: true });
  const waitForFocus = (element: Locator) => page.locator(':focus').and(element).waitFor();
  await add.click();
  await waitForFocus(starts.first());
  await starts.first().fill(later);
  await add.click();
  await waitForFocus(starts.nth(1));
  await starts.nth(1).fill(from);
  await holidays.getByLabel('To', { exact: true }).nth(1).fill(to);
  await holidays.getByLabel('Reason').nth(1).fill('Lebaran ');
  await add.click();
  await save(page);
  const ranges = [
    { from, to, reason: 'Lebaran' },
    { from: later, to: later, reason: null },
  ];
  expect((await readShop()).closed_ranges).toEqual(ranges);
  expect(await starts.count()).toBe(2);
  await holidays.getByRole('button', { name: `Remove ${from} – ${to}` }).click();
  await waitForFocus(add);
  await save(page);
  expect((await readShop()).closed_ranges).toEqual(ranges.slice(1));
});

it('a change of the shop by somebody else is shown before the form replaces it', async () => {
  const { page } = await openAsAdmin('/manage/shop');
  await page.getByLabel('Minutes between').fill('60');
  await changeShop({ days_ahead: 9, language: 'id' });
  await page.getByRole('button', { name: 'Save' }).click();
  await waitForText(page, 'Somebody else has changed: Days in advance: 9, Language: Bahasa Indonesia.');
  expect(await page.getByLabel('Minutes between').inputValue()).toBe('60');
  await save(page);
  expect(await readShop()).toMatchObject({ lead_minutes: 60, days_ahead: 14, language: 'en' });
});

it('the form of the shop is saved without a question after a colleague has paused the shop, and keeps the pause', async () => {
  const { page } = await openAsAdmin('/manage/shop');
  const paused_until = inDays(1).toISOString();
  await changeShop({ paused_until });
  await page.getByLabel('Minutes between').fill('60');
  await save(page);
  expect(await readShop()).toMatchObject({ paused_until, lead_minutes: 60 });
});

it('the form of the shop is saved again without a question after the first response was lost', async () => {
  const { page } = await openAsAdmin('/manage/shop');
  await page.getByLabel('Minutes between').fill('60');
  await page.getByLabel('Name of the shop').fill('Roti Sore '); // as the keyboards of phones complete a word
  await loseFirstResponse(page, '**/api/admin/shop', 'PUT');
  await page.getByRole('button', { name: 'Save' }).click();
  await waitForText(page, 'We cannot reach the bakery.');
  await save(page);
  expect(await readShop()).toMatchObject({ lead_minutes: 60, name: 'Roti Sore' });
});

it('the page of an order shows the name and the contact of the shop', async () => {
  const { page } = await openAsAdmin('/manage/shop');
  const name = page.getByLabel('Name of the shop');
  await name.fill('Roti Sore ');
  await page.getByLabel('Address').fill('Jalan Kaliurang 5, Yogyakarta');
  await page.getByLabel('WhatsApp number').fill('0812-1111-2222');
  await save(page);
  expect(await name.inputValue()).toBe('Roti Sore'); // as the service has stored it
  const { page: customerPage } = await createCustomer();
  const { order_id } = await placeOrder(customerPage);
  await customerPage.goto(`/orders/${order_id}`);
  await customerPage.getByRole('banner').getByText('Roti Sore').waitFor();
  await customerPage.getByRole('contentinfo').getByText('Jalan Kaliurang 5, Yogyakarta').waitFor();
  await waitForHeading(customerPage, 'Waiting for payment');
  expect(await customerPage.title()).toContain('Roti Sore');
  // The chat about an order begins with its number.
  const link = customerPage.getByRole('article').getByRole('link', { name: 'WhatsApp' });
  const number = order_id.slice(0, 8).toUpperCase();
  expect(await link.getAttribute('href')).toMatch(
    new RegExp(`^https://wa.me/6281211112222\\?text=.*${number}`),
  );
});

it.each(['0812-3456-789', '0062 812 3456 789', '+62 (0)812-3456-789', '+62 0812 3456 789'])(
  'the WhatsApp number %s leads to the chat with 628123456789',
  async (whatsapp) => {
    await changeShop({ whatsapp });
    const { page } = await createCustomer();
    await page.goto('/');
    const link = page.getByRole('contentinfo').getByRole('link', { name: 'WhatsApp' });
    expect(await link.getAttribute('href')).toBe('https://wa.me/628123456789');
  },
);

it('the paid orders of a date are listed before the date or its weekday is closed, and afterwards', async () => {
  const customer = await createCustomer({ name: makeUnique('Sinta') });
  const day = inDays(4);
  const date = toShopDate(day);
  await placePaidOrder(customer.page, { pickup_at: `${date}T10:00:00+07:00` });
  const { page } = await openAsAdmin('/manage/shop');
  const affected = page.getByRole('alert').getByText(customer.name);
  await page.getByLabel('Closed on').fill(date);
  await affected.waitFor();
  await page.getByLabel('Closed on').fill('');
  await affected.waitFor({ state: 'detached' });
  const remove = { name: `Remove 07:00 to 18:00 on ${formatWeekday(day, 'long')}` };
  await page.getByRole('button', remove).click();
  await affected.waitFor();
  await page.getByLabel('Closed on').fill(date);
  await save(page);
  await page.reload();
  await affected.waitFor();
  await expectGoodLayout(page, 'closed date with a paid order');
  await page.goto(`/manage/today?date=${date}`);
  await waitForText(page, 'The shop is closed on this date.');
});

it('the form of the shop asks before a link, a step in the history or a sign-out discards unsaved limits of orders', async () => {
  const { page } = await openAsAdmin('/manage/sales');
  await page.getByRole('link', { name: 'Products' }).click();
  await page.getByRole('link', { name: 'Hours' }).click();
  await page.getByLabel('Latest time to order').fill('18:00');
  await page.getByLabel('Orders per pickup time').fill('20');
  await page.getByLabel('Length of a pickup time').selectOption('30 minutes');
  await page.getByLabel('Language').selectOption('Bahasa Indonesia');
  page.once('dialog', (question) => void question.dismiss());
  await page.getByRole('link', { name: 'Today' }).click();
  page.once('dialog', (question) => void question.dismiss());
  await page.getByRole('button', { name: 'Sign out' }).click();
  for (const steps of [-1, -2]) {
    const question = page.waitForEvent('dialog');
    await page.evaluate((count) => {
      history.go(count);
    }, steps);
    await (await question).dismiss();
    await page.waitForURL('**/manage/shop');
  }
  await save(page);
  const limits = { cut_off: '18:00', orders_per_slot: 20, slot_minutes: 30, language: 'id' };
  expect(await readShop()).toMatchObject(limits);

  await page.getByLabel('Orders per pickup time').fill('30');
  page.once('dialog', (question) => void question.accept());
  await page.goBack();
  await waitForHeading(page, 'Products');
});

it('a limit of orders without the length of a pickup time is rejected, and a length without a limit is saved', async () => {
  const { page } = await openAsAdmin('/manage/shop');
  const [limit, length] = [
    page.getByLabel('Orders per pickup time'),
    page.getByLabel('Length of a pickup time'),
  ];
  await limit.fill('20');
  await page.getByRole('button', { name: 'Save' }).click();
  await waitForText(page, 'A limit needs the length of a pickup time.');
  await length.and(page.locator(':focus')).waitFor();
  await limit.fill('');
  expect(await length.getByRole('option').first().textContent()).toBe('No limit');
  await length.selectOption('30 minutes');
  await save(page);
  expect(await readShop()).toMatchObject({ slot_minutes: 30, orders_per_slot: null });
});

it('a setting that is typed while the form of the shop is being saved stays in the form and is unsaved', async () => {
  const { page } = await openAsAdmin('/manage/shop');
  const release = await holdRequests(page, '**/api/admin/shop');
  await page.getByLabel('Minutes between').fill('60');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByLabel('Days in advance').fill('9');
  await release();
  await waitForText(page, 'The settings of the shop are saved.');
  expect(await page.getByLabel('Days in advance').inputValue()).toBe('9');
  page.once('dialog', (question) => void question.dismiss());
  await page.getByRole('link', { name: 'Today' }).click();
  await save(page);
  expect(await readShop()).toMatchObject({ lead_minutes: 60, days_ahead: 9 });
});

it('rejected settings of the shop are explained at their fields, and nothing is saved until all of them are corrected', async () => {
  const { page } = await openAsAdmin('/manage/shop');
  const before = await readShop();
  await page.getByLabel('Wednesday, opens').fill('7pm');
  await waitForText(page, 'Write the time with digits, for example 07:00 or 19:00.');
  await page.getByLabel('Wednesday, opens').fill('0730');
  await page.getByLabel('Length of a pickup time').selectOption('30 minutes');
  const fields: [label: string, wrong: string, message: string, right: string][] = [
    ['Wednesday, closes', '25:00', 'Wednesday: at most 5 periods', '18:00'],
    ['Days in advance', '0', 'Write a whole number from 1 to 90.', '14'],
    ['Minutes between', '1.000', 'Write a whole number from 0 to 10080.', '60'],
    ['Orders per pickup', '20 a', 'Write a whole number from 1 to 999.', '20'],
    ['Latest time to order', '6pm', 'Write the time with digits', '18'],
    ['Time zone', 'Mars/Phobos', 'Time zone should be the name', 'Asia/Jakarta'],
    ['Reason', 'Lebaran', 'Each needs two dates', ''], // the reason of closed dates
  ];
  await page.getByRole('button', { name: 'Add holidays' }).click();
  for (const [label, wrong] of fields) await page.getByLabel(label).fill(wrong);
  expect(await page.getByLabel('Wednesday, opens').inputValue()).toBe('07:30');
  await page.getByRole('button', { name: 'Save' }).click();
  for (const [label, wrong, message] of fields) {
    await waitForText(page, message);
    expect(await page.getByLabel(label).inputValue()).toBe(wrong);
  }
  expect(await page.getByLabel('Days in advance').getAttribute('aria-invalid')).toBe('true');
  await expectGoodLayout(page, 'rejected opening hours');
  expect(await readShop()).toEqual(before);

  for (const [label, , , right] of fields) await page.getByLabel(label).fill(right);
  await save(page);
  expect(await page.locator('[aria-invalid]').count()).toBe(0);
  expect(await readShop()).toMatchObject({ lead_minutes: 60, orders_per_slot: 20, cut_off: '18:00' });
  expect(await page.getByLabel('Latest time to order').inputValue()).toBe('18:00');
});

describe('in a shop that is closed for two ranges of dates from tomorrow on, and on the weekday after them', () => {
  const [dayWithoutHours, reopening] = [inDays(9), inDays(10)];
  useShopSettings({
    closed_ranges: [
      { from: toShopDate(inDays(1)), to: toShopDate(inDays(3)), reason: 'Lebaran' },
      { from: toShopDate(inDays(4)), to: toShopDate(inDays(8)), reason: null },
    ],
    hours: { ...DEFAULT_SHOP.hours, [formatWeekday(dayWithoutHours, 'short').toLowerCase()]: [] },
    days_ahead: 5,
    cut_off: '12:00', // Nothing can be ordered for today.
  });

  it('the catalog names the date of the reopening, and the reason of the first range', async () => {
    const { page } = await createCustomer();
    await page.goto('/');
    const note = page.getByRole('status').getByText(/^We are closed\. We open again on .* \(Lebaran\)$/);
    await note.waitFor();
    expect(await note.textContent()).toContain(formatWeekday(reopening, 'long'));
  });

  it('the page of the day says that the shop is closed on a weekday without opening hours', async () => {
    const { page } = await openAsAdmin(`/manage/today?date=${toShopDate(dayWithoutHours)}`);
    await waitForHeading(page, /\w+ \d+ \w+/);
    await waitForText(page, 'The shop is closed on this date.');
  });
});

describe('in a shop with single closed dates on all days for which customers can order', () => {
  // The default is to order up to 14 days ahead.
  useShopSettings({ closed: Array.from({ length: 16 }, (_, days) => toShopDate(inDays(days))) });

  it('the cart names the date of the reopening, and no reason', async () => {
    const { page } = await createCustomer();
    await page.goto('/cart');
    const note = page.getByRole('status').getByText(/^We are closed\. We open again on [^()]*\.$/);
    await note.waitFor();
    expect(await note.textContent()).toContain(formatWeekday(inDays(16), 'long'));
  });
});
