import type { Page } from 'playwright-core';
import {
  ALWAYS_OPEN,
  type ApiCustomer,
  changeShop,
  createProduct,
  placePaidOrder,
  registerCustomer,
} from './support/service.js';
import {
  DESKTOP,
  findViolations,
  measureOverflow,
  newShopper,
  PHONE,
  search,
  signInAsAdmin,
  takeFulfilmentStep,
  takeReadmeScreenshot,
  takeScreenshot,
  waitForHeading,
  waitForText,
} from './support/shopper.js';
import { countPages } from './support/steps.js';

let restoreShop: () => Promise<void>;

beforeAll(async () => {
  restoreShop = await changeShop({ hours: ALWAYS_OPEN, lead_minutes: 0 });
});
afterAll(() => restoreShop());

/** Pickup time on the current day, unless the test runs in the last minutes before midnight. */
function soon(): string {
  return new Date(Date.now() + 60_000).toISOString();
}

/** Finds the row of a customer on the page of a day. */
function rowOf(page: Page, { name }: ApiCustomer) {
  return page.getByRole('listitem').filter({ has: page.getByText(name, { exact: true }) });
}

/** Reads the pieces to bake and the ordered pieces of a product. */
async function readBakeList(page: Page, product: string): Promise<string[]> {
  return page.getByRole('row', { name: product }).getByRole('cell').allTextContents();
}

it("the baker's morning: Today, what to bake, three orders to collected, sold out, a refund, the week's sales", async () => {
  const [bread, cake] = [`Roti pagi ${Date.now()}`, `Kue pagi ${Date.now()}`];
  const [breadId, cakeId] = [await createProduct(bread, 20_000), await createProduct(cake, 90_000)];
  const ayu = await registerCustomer(`Ayu ${Date.now()}`);
  const budi = await registerCustomer(`Budi ${Date.now()}`);
  const citra = await registerCustomer(`Citra ${Date.now()}`);
  const details = { phone: '0812-3456-7890', note: 'Please slice it', pickup_at: soon() };
  await placePaidOrder(ayu, { [breadId]: 2, [cakeId]: 1 }, details);
  await placePaidOrder(budi, { [breadId]: 3 });
  await placePaidOrder(citra, { [cakeId]: 1 });

  const { page, problems } = await newShopper();
  await signInAsAdmin(page);
  await rowOf(page, ayu).getByRole('link', { name: '0812-3456-7890' }).waitFor();
  await rowOf(page, ayu).getByText('Please slice it').waitFor();
  await rowOf(page, ayu).getByText(`2 × ${bread}`).waitFor();
  expect(await readBakeList(page, bread)).toEqual(['5', '5']);
  expect(await readBakeList(page, cake)).toEqual(['2', '2']);
  await takeReadmeScreenshot(page, 'today-desktop');

  for (const customer of [ayu, budi, citra]) {
    const row = rowOf(page, customer);
    for (const step of ['Start preparing', 'Ready to be collected', 'Handed over']) {
      const button = row.getByRole('button', { name: step });
      const size = await button.boundingBox();
      expect(size?.height).toBeGreaterThanOrEqual(44);
      await button.click();
      await button.waitFor({ state: 'detached' });
    }
    await page.getByRole('list', { name: 'Collected orders' }).getByText(customer.name).waitFor();
    await page.locator('h2:focus').waitFor();
  }
  expect(await readBakeList(page, bread)).toEqual(['0', '5']);
  expect(new URL(page.url()).pathname).toBe('/manage/today');

  await page.getByRole('link', { name: 'Products', exact: true }).click();
  await search(page, bread);
  await page.getByRole('button', { name: `Sold out today: ${bread}` }).click();
  await page
    .getByRole('status')
    .getByText(/^Sold out until/)
    .waitFor();
  await page.getByLabel('Availability').selectOption('false');
  await waitForText(page, bread);
  await page.getByLabel('Availability').selectOption('true');
  await waitForText(page, 'No products match your search.');

  await page.getByRole('link', { name: 'Today' }).click();
  await rowOf(page, ayu).getByRole('link').first().click();
  await waitForHeading(page, 'Order');
  await page.locator('summary', { hasText: 'Refund' }).click();
  await page.getByLabel('Amount in rupiah').fill('30.000');
  await page.getByLabel('Reason').fill('One slice was missing');
  await page.getByRole('button', { name: 'Refund', exact: true }).click();
  await page.getByRole('dialog', { name: /Refund Rp\s30\.000\?/ }).waitFor();
  await page.getByRole('button', { name: 'Refund the money' }).click();
  await page.getByText('Partly refunded').first().waitFor();
  await page
    .getByRole('list', { name: 'Payment history' })
    .getByText(/Rp\s30\.000/)
    .first()
    .waitFor();
  await page.getByRole('link', { name: /Back to/ }).click();
  await waitForHeading(page, 'Today');

  await page.getByRole('link', { name: 'Sales' }).click();
  await waitForHeading(page, 'Sales');
  await page.getByRole('row', { name: new RegExp(`^${bread} 5 Rp\\s100\\.000`) }).waitFor();
  await page.getByRole('button', { name: 'Last 30 days' }).click();
  await page.getByRole('row', { name: new RegExp(`^${cake} 2 Rp\\s180\\.000`) }).waitFor();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download CSV' }).click();
  expect((await download).suggestedFilename()).toMatch(/^sales-.*\.csv$/);
  expect(problems).toEqual([]);
});

it('the page of a day shows new orders by itself, and leads to the next and the previous day', async () => {
  const { page, problems } = await newShopper();
  await signInAsAdmin(page);
  await page.clock.install();
  await page.reload();
  await waitForHeading(page, 'Today');
  await page.getByRole('heading', { name: 'To bake' }).waitFor();
  const dewi = await registerCustomer(`Dewi ${Date.now()}`);
  await placePaidOrder(dewi, { [await createProduct(`Roti baru ${Date.now()}`, 10_000)]: 1 });
  await page.clock.runFor(16_000);
  await rowOf(page, dewi).waitFor();

  await page.getByRole('button', { name: 'Next day' }).click();
  await waitForHeading(page, 'Tomorrow');
  await waitForText(page, 'There are no paid orders for this day yet.');
  await page.goBack();
  await waitForHeading(page, 'Today');
  await page.getByRole('button', { name: 'Previous day' }).click();
  await page.getByRole('button', { name: 'Today' }).click();
  await rowOf(page, dewi).waitFor();
  expect(problems).toEqual([]);
});

it('a step that another administrator took meanwhile is rejected with a message on the page of the day', async () => {
  const eko = await registerCustomer(`Eko ${Date.now()}`);
  const id = await placePaidOrder(eko, { [await createProduct(`Roti dua ${Date.now()}`, 10_000)]: 1 });
  const { page } = await newShopper();
  await signInAsAdmin(page);
  await rowOf(page, eko).waitFor();
  await takeFulfilmentStep(id, 'preparing');
  await rowOf(page, eko).getByRole('button', { name: 'Start preparing' }).click();
  await page.getByRole('alert').getByText('The order cannot become preparing.').waitFor();
  await rowOf(page, eko).getByRole('button', { name: 'Ready to be collected' }).waitFor();
});

it('a day prints on one A4 page and on the 80 mm paper of a receipt printer', async () => {
  // A day without orders of other tests.
  const pickup = new Date(Date.now() + 9 * 24 * 60 * 60_000);
  const date = new Intl.DateTimeFormat('en-CA', { timeZone: 'Asia/Jakarta' }).format(pickup);
  const fitri = await registerCustomer(`Fitri ${Date.now()}`);
  const productId = await createProduct(`Roti cetak ${Date.now()}`, 10_000);
  const details = { note: 'Please slice it', pickup_at: pickup.toISOString() };
  for (let orders = 0; orders < 12; orders += 1) await placePaidOrder(fitri, { [productId]: 1 }, details);
  const { page } = await newShopper();
  await signInAsAdmin(page);
  await page.goto(`/manage/today?date=${date}`);
  await rowOf(page, fitri).nth(11).waitFor();
  expect(countPages(await page.pdf({ format: 'A4' }))).toBe(1);
  await page.emulateMedia({ media: 'print' });
  await takeScreenshot(page, 'today-print-a4', true);
  await page.setViewportSize({ width: 280, height: 800 });
  expect(await measureOverflow(page)).toBe(0);
  expect(await page.getByRole('button').filter({ visible: true }).count()).toBe(0);
  await takeScreenshot(page, 'today-print-80mm', true);
});

it.each([PHONE, DESKTOP])(
  'the pages of the staff fit a window of $width px and are accessible',
  async (size) => {
    const { page, problems } = await newShopper(size);
    await signInAsAdmin(page);
    for (const name of ['today', 'sales', 'shop', 'orders?refund=due', 'products?available=false']) {
      await page.goto(`/manage/${name}`);
      await page.locator('.panel, .rows li:not(.skeleton), .notice').first().waitFor();
      expect({ name, overflow: await measureOverflow(page) }).toEqual({ name, overflow: 0 });
      expect({ name, violations: await findViolations(page) }).toEqual({ name, violations: [] });
      await takeScreenshot(page, `${name.replace(/\W.*/, '')}-${size.width}`, true);
    }
    expect(problems).toEqual([]);
  },
);
