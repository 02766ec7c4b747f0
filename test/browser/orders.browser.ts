import { countPages, expectGoodPrint, measureOverflow } from './support/layout.js';
import { waitForHeading, waitForText } from './support/page.js';
import { placeOrder, placePaidOrder } from './support/shop.js';
import { createCustomer, PHONE } from './support/shopper.js';

it('an order prints on one A4 page and on one page of the 80 mm paper of a receipt printer', async () => {
  const { page } = await createCustomer();
  const id = await placePaidOrder(page);
  await page.goto(`/orders/${id}`);
  await waitForHeading(page, 'Paid');
  expect(countPages(await page.pdf({ width: '80mm', height: '200mm' }))).toBe(1);
  await expectGoodPrint(page);
});

it('orders show short numbers, and times in the time zone of the shop', async () => {
  const { page } = await createCustomer({ timezoneId: 'America/New_York' });
  const { order_id: id, created_at } = await placeOrder(page);
  const number = id.slice(0, 8).toUpperCase();
  const format = { timeZone: 'Asia/Jakarta', dateStyle: 'medium', timeStyle: 'short' } as const;
  const time = new Intl.DateTimeFormat('en-GB', format).format(new Date(created_at));
  await page.goto('/orders');
  await page.getByRole('link', { name: `${number} · ${time}` }).click();
  await waitForText(page, `Order ${number}, in full ${id}`);
  await waitForText(page, `Placed on ${time}`);
});

it('the list of orders and the navigation fit a phone at double text size', async () => {
  const { page } = await createCustomer({ viewport: PHONE });
  await placeOrder(page);
  await page.goto('/orders');
  await waitForText(page, '1 order in all.');
  const label = page.getByRole('navigation').getByText('Orders');
  const readLabelSize = () => label.evaluate((element) => parseFloat(getComputedStyle(element).fontSize));
  const normalSize = await readLabelSize();
  await page.locator('html').evaluate((html) => (html.style.fontSize = '200%'));
  expect(await readLabelSize()).toBe(2 * normalSize);
  expect(await measureOverflow(page)).toBe(0);
  expect(await page.locator('.badge').count()).toBe(1);
  const outside = await page.locator('.badge').evaluateAll((badges) =>
    badges.filter((badge) => {
      const card = badge.closest('.row')?.getBoundingClientRect();
      return card === undefined || badge.getBoundingClientRect().right > card.right;
    }),
  );
  expect(outside).toEqual([]);
});
