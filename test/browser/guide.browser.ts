import { ALWAYS_OPEN, DEFAULT_SHOP } from '../support/shop-settings.js';
import { expectGoodLayout, takeScreenshot } from './support/layout.js';
import { openPage, waitForHeading } from './support/page.js';
import { getText, texts } from './support/settings.js';
import {
  changeShop,
  CROISSANT,
  placeOrderPaidTwice,
  placePaidOrder,
  useShopSettings,
} from './support/shop.js';
import { createAdmin, createCustomer } from './support/shopper.js';

/** Ids of "Kue lapis legit" and "Roti sobek pandan", which `run.mjs` creates in each shop. */
const [LAPIS, ROTI_SOBEK] = [1, 5];
const HALF_HOUR_MS = 30 * 60_000;
const TABLET = { width: 820, height: 780 };

useShopSettings({
  ...ALWAYS_OPEN,
  slot_minutes: 30,
  orders_per_slot: 20,
});

/** Returns the first start of a half hour that is at least this many half hours ahead, in ISO 8601. */
function pickupIn(halfHours: number): string {
  return new Date((Math.ceil(Date.now() / HALF_HOUR_MS) + halfHours) * HALF_HOUR_MS).toISOString();
}

const GUIDES = [
  { name: 'guide', language: 'en', locale: 'en-GB', heading: 'Guide for the owner' },
  { name: 'panduan', language: 'id', locale: 'id-ID', heading: 'Panduan untuk pemilik toko' },
] as const;

it.each(GUIDES)(
  'the pages of administrators open the guide $name, which shows its pictures and uses only texts of the storefront in bold',
  async ({ name, language, locale, heading }) => {
    const { page } = await createAdmin({ locale, viewport: TABLET });
    await openPage(page, '/manage/sales');
    const opened = page.context().waitForEvent('page');
    await page.getByRole('link', { name: getText(language, 'manage.guide') }).click();
    const guide = await opened;
    await waitForHeading(guide, heading);
    await expectGoodLayout(guide, name);
    const widths = await guide.evaluate(() => [...document.images].map(({ naturalWidth }) => naturalWidth));
    expect(widths).toHaveLength(8);
    expect(widths).not.toContain(0);
    const shown = Object.values(texts[language]);
    // A text that contains values begins with the words in bold: the first value follows, alone or in quotation marks.
    const isShown = (words: string) =>
      shown.some((text) => text === words || text.startsWith(`${words} {`) || text.startsWith(`${words} “`));
    const bold = await guide.locator('strong').allTextContents();
    expect(bold.length).toBeGreaterThan(20);
    expect(bold.filter((words) => !isShown(words))).toEqual([]);
  },
);

it.each(GUIDES)(
  'the pages of administrators show everything that the pictures of the guide $name need',
  async ({ name, language, locale }) => {
    const text = (key: string) => getText(language, key);
    const [ayu, budi, dewi] = [
      await createCustomer({ name: 'Ayu Lestari' }),
      await createCustomer({ name: 'Budi Santoso' }),
      await createCustomer({ name: 'Dewi Anggraini' }),
    ];
    const details = { phone: '0812-3456-7890', pickup_at: pickupIn(1) };
    const id = await placePaidOrder(ayu.page, { quantities: { [LAPIS]: 1, [CROISSANT]: 6 }, ...details });
    await placePaidOrder(budi.page, {
      quantities: { [CROISSANT]: 4, [ROTI_SOBEK]: 2 },
      pickup_at: pickupIn(2),
    });
    const paidTwice = await placeOrderPaidTwice(dewi.page, { quantities: { [CROISSANT]: 2 } });
    const { page } = await createAdmin({ locale, viewport: TABLET });
    const take = (picture: string) => takeScreenshot(page, `${name}-${picture}`);

    await page.setViewportSize({ ...TABLET, height: 1150 });
    await openPage(page, '/manage/today');
    await take('today');
    await page.setViewportSize(TABLET);
    await openPage(page, '/manage/products');
    await take('products');
    await changeShop({ ...DEFAULT_SHOP, cut_off: '18:00' });
    await openPage(page, '/manage/shop');
    const holidays = page.getByRole('group', { name: text('ranges.label') });
    await holidays.getByRole('button', { name: text('ranges.add') }).click();
    await holidays.getByLabel(text('sales.from'), { exact: true }).fill('2027-03-09');
    await holidays.getByLabel(text('sales.to'), { exact: true }).fill('2027-03-14');
    await holidays.getByLabel(text('reason'), { exact: true }).fill('Lebaran');
    await holidays.scrollIntoViewIfNeeded();
    await take('hours');
    await page.getByLabel(text('shop.slotMinutes')).scrollIntoViewIfNeeded();
    await take('limits');
    await openPage(page, `/manage/orders/${id}`);
    await page.getByRole('button', { name: text('refuse.label') }).click();
    await take('refuse');
    await page.getByRole('button', { name: text('refuse.no') }).click();
    await page.locator('summary', { hasText: text('manage.refund') }).click();
    await page.getByLabel(text('refund.byHand')).scrollIntoViewIfNeeded();
    await take('refund');
    await openPage(page, `/manage/orders/${paidTwice}`);
    await page.getByText(text('transactions.surplus')).scrollIntoViewIfNeeded();
    await take('twice');
    await openPage(page, '/manage/sales');
    await take('sales');
  },
);
