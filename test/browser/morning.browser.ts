import type { Page } from 'playwright-core';
import { ALWAYS_OPEN } from '../support/shop-settings.js';
import { inParallel } from '../support/wait.js';
import { expectGoodLayout, expectGoodPrint, takeScreenshot } from './support/layout.js';
import { openPage, search, waitForHeading, waitForText } from './support/page.js';
import { changeResponses, loseFirstResponse } from './support/requests.js';
import {
  createProduct,
  inDays,
  makeUnique,
  placePaidOrder,
  refundByHand,
  setFulfilment,
  toShopDate,
  useShopSettings,
} from './support/shop.js';
import { createCustomer, openAsAdmin } from './support/shopper.js';

useShopSettings(ALWAYS_OPEN);

function findOrders(page: Page, { name }: { name: string }) {
  return page.getByRole('listitem').filter({ has: page.getByText(name, { exact: true }) });
}

/** Opens the page of the day as an administrator, after a new customer has paid for an order. */
async function openDayWithOrder() {
  const customer = await createCustomer({ name: makeUnique('Sari') });
  const id = await placePaidOrder(customer.page);
  const { page } = await openAsAdmin('/manage/today');
  return { id, page, name: customer.name, order: findOrders(page, customer) };
}

/** Reads two cells of a product's row on the page of a day: the pieces that are still to bake, and the ordered pieces. */
function readPieces(page: Page, product: { name: string }): Promise<string[]> {
  return page.getByRole('row', { name: product.name }).getByRole('cell').allTextContents();
}

it('the baker sees what to bake, hands over orders, marks a product as sold out, and reads the sales', async () => {
  const bread = await createProduct('Roti pagi', 20_000);
  const cake = await createProduct('Kue pagi', 90_000);
  const ayu = await createCustomer({ name: makeUnique('Ayu') });
  const budi = await createCustomer({ name: makeUnique('Budi') });
  const citra = await createCustomer({ name: makeUnique('Citra') });
  const endOfToday = Date.parse(`${toShopDate(new Date())}T23:59:59+07:00`);
  const pickup_at = new Date(Math.min(Date.now() + 60_000, endOfToday)).toISOString();
  const details = { phone: '0812-3456-7890', note: 'Please slice it', pickup_at };
  await placePaidOrder(ayu.page, { quantities: { [bread.id]: 2, [cake.id]: 1 }, ...details });
  // Without a pickup time, an order belongs to the day of its payment.
  await placePaidOrder(budi.page, { quantities: { [bread.id]: 3 } });
  await placePaidOrder(citra.page, { quantities: { [cake.id]: 1 } });

  const { page } = await openAsAdmin('/manage/today');
  await findOrders(page, ayu).getByRole('link', { name: '0812-3456-7890' }).waitFor();
  await findOrders(page, ayu).getByText('Please slice it').waitFor();
  await findOrders(page, ayu).getByText(`2 × ${bread.name}`).waitFor();
  expect(await readPieces(page, bread)).toEqual(['5', '5']);
  expect(await readPieces(page, cake)).toEqual(['2', '2']);
  await takeScreenshot(page, 'today-desktop');

  for (const customer of [ayu, budi, citra]) {
    for (const step of ['Start preparing', 'Ready to be collected', 'Handed over']) {
      const button = findOrders(page, customer).getByRole('button', { name: step });
      expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(44); // px, enough for a finger
      await button.click();
      await button.waitFor({ state: 'detached' });
    }
    await page.getByRole('list', { name: 'Collected orders' }).getByText(customer.name).waitFor();
    await page.locator('h2:focus').waitFor(); // The pressed button has moved away with its order.
  }
  expect(await readPieces(page, bread)).toEqual(['0', '5']);

  await page.getByRole('link', { name: 'Products', exact: true }).click();
  await search(page, bread.name);
  await page.getByRole('button', { name: `Sold out today: ${bread.name}` }).click();
  const confirmation = page.getByRole('status').getByText(/^Sold out, available again/);
  await confirmation.waitFor();
  await page.getByLabel('Availability').selectOption('false');
  await waitForText(page, bread.name);
  await page.getByLabel('Availability').selectOption('true');
  await waitForText(page, 'No products match your search.');

  await page.getByRole('link', { name: 'Sales' }).click();
  await waitForHeading(page, 'Sales');
  await page.getByRole('row', { name: new RegExp(`^${bread.name} 5 Rp\\s100\\.000`) }).waitFor();
  await page.getByRole('button', { name: 'Last 30 days' }).click();
  await page.getByRole('row', { name: new RegExp(`^${cake.name} 2 Rp\\s180\\.000`) }).waitFor();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download CSV' }).click();
  expect((await download).suggestedFilename()).toMatch(/^sales-.*\.csv$/);
  const excel = page.waitForResponse(/sales\.csv\?.*format=excel/);
  await page.getByRole('button', { name: 'Download for Excel' }).click();
  expect((await excel).status()).toBe(200);
});

it('a group step reports no failure for an order that a colleague has already moved and partly refunded, its undo spares that order, and a lost connection is reported', async () => {
  const rudi = await createCustomer({ name: makeUnique('Rudi') });
  const date = toShopDate(inDays(7)); // No other test places orders for this day.
  const details = { pickup_at: `${date}T07:00:00+07:00` };
  const movedByColleague = await placePaidOrder(rudi.page, details);
  await inParallel(2, () => placePaidOrder(rudi.page, details));
  const { page } = await openAsAdmin(`/manage/today?date=${date}`);
  await page.route(`**/orders/${movedByColleague}/fulfilment`, async (route) => {
    await setFulfilment(movedByColleague, 'preparing');
    await refundByHand(movedByColleague, 1_000);
    await route.continue();
  });
  await page.getByRole('button', { name: '07:00, 3 orders: Start preparing' }).click();
  await page.locator('h2#day-orders:focus').waitFor();
  await waitForText(page, '2 orders: Preparing.');
  await page.getByRole('button', { name: '07:00, 3 orders: Ready to be collected' }).waitFor();
  expect(await page.getByText('The order cannot take this step.').count()).toBe(0);
  await page.getByRole('button', { name: 'Undo' }).click();
  const again = page.getByRole('button', { name: '07:00, 2 orders: Start preparing' });
  await again.waitFor();
  await page.route('**/fulfilment', (route) => route.abort());
  await again.press('Enter');
  await waitForText(page, 'We cannot reach the bakery.');
  await again.waitFor();
});

it('a step can be undone by its focused button after three further messages, and the focus then moves to the heading', async () => {
  const { page, order } = await openDayWithOrder();
  const other = await createCustomer();
  await order.getByRole('button', { name: 'Start preparing' }).click();
  const undo = page.getByRole('button', { name: 'Undo' });
  await undo.focus();
  await placePaidOrder(other.page);
  await page.route('**/api/logout', (route) => route.abort());
  const signOut = page.getByRole('button', { name: 'Sign out' });
  for (let times = 0; times < 2; times += 1) await signOut.dispatchEvent('click'); // does not move the focus
  await page.getByText('You could not be signed out.').nth(1).waitFor();
  await page.evaluate(() => dispatchEvent(new Event('visibilitychange'))); // reloads the orders
  await waitForText(page, '1 new order.');
  await undo.and(page.locator(':focus')).press('Enter');
  await page.locator('h1:focus').waitFor();
  await waitForText(page, 'The step is undone.');
});

it('a double-click on "Undo" undoes one step, also if the message above moves under the mouse', async () => {
  const { page, order } = await openDayWithOrder();
  const other = await createCustomer({ name: makeUnique('Tono') });
  await placePaidOrder(other.page);
  await page.reload();
  for (const each of [order, findOrders(page, other)]) {
    await each.getByRole('button', { name: 'Start preparing' }).click();
    await each.getByRole('button', { name: 'Ready to be collected' }).waitFor();
  }
  await page.getByRole('button', { name: 'Undo' }).nth(1).dblclick();
  await waitForText(page, 'The step is undone.');
  await findOrders(page, other).getByRole('button', { name: 'Start preparing' }).waitFor();
  expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(1);
});

it('a step that was taken although its response was lost can be undone', async () => {
  const { page, order } = await openDayWithOrder();
  await loseFirstResponse(page, '**/fulfilment', 'PUT');
  await order.getByRole('button', { name: 'Start preparing' }).click();
  await page.getByRole('button', { name: 'Undo' }).click();
  await waitForText(page, 'The step is undone.');
  await order.getByRole('button', { name: 'Start preparing' }).waitFor();
});

it('Enter that is held down takes an order only to its next step', async () => {
  const { page, order } = await openDayWithOrder();
  let steps = 0;
  page.on('request', (request) => (steps += request.method() === 'PUT' ? 1 : 0));
  await order.getByRole('button', { name: 'Start preparing' }).focus();
  await page.keyboard.down('Enter');
  await order.getByRole('button', { name: 'Ready to be collected' }).waitFor();
  await page.keyboard.down('Enter'); // repeats the key
  await page.keyboard.up('Enter');
  await page.getByRole('button', { name: 'Undo' }).click();
  await waitForText(page, 'The step is undone.');
  expect(steps).toBe(2);
});

it('forty orders of a morning take 49 taps: one opens the day, eight move the groups, and forty hand over the orders', async () => {
  const rudi = await createCustomer({ name: makeUnique('Rudi') });
  const date = toShopDate(inDays(6)); // No other test places orders for this day.
  const times = ['07:00', '08:00', '09:00', '10:00'];
  for (const time of times) {
    const details = { pickup_at: `${date}T${time}:00+07:00` };
    await inParallel(10, () => placePaidOrder(rudi.page, details));
  }
  const { page } = await openAsAdmin(`/manage/today?date=${date}`);
  for (const step of ['Start preparing', 'Ready to be collected']) {
    for (const time of times) {
      const button = page.getByRole('button', { name: `${time}, 10 orders: ${step}` });
      await button.click();
      await button.waitFor({ state: 'detached' });
      await page.locator('h2#day-orders:focus').waitFor(); // The pressed button has disappeared.
    }
  }
  const collected = page
    .getByRole('list', { name: 'Collected orders' })
    .getByText(rudi.name, { exact: true });
  for (let index = 0; index < 40; index += 1) {
    await findOrders(page, rudi).getByRole('button', { name: 'Handed over' }).first().click();
    await collected.nth(index).waitFor();
  }
});

it('a step that fails because a colleague has handed over the order is explained in the list of collected orders', async () => {
  const { id, page, name, order } = await openDayWithOrder();
  await page.route('**/fulfilment', async (route) => {
    for (const step of ['preparing', 'ready', 'collected'] as const) await setFulfilment(id, step);
    await route.continue();
  });
  await order.getByRole('button', { name: 'Start preparing' }).click();
  const row = page.getByRole('list', { name: 'Collected orders' }).locator('.failed', { hasText: name });
  await waitForText(row.getByRole('alert'), 'The order cannot take this step.');
  await expectGoodLayout(page, 'rejected step of the day');
});

it('a step that fails because a colleague has refused the order is explained above the orders', async () => {
  const { id, page, order } = await openDayWithOrder();
  await page.route('**/fulfilment', async (route) => {
    await setFulfilment(id, 'refused');
    await route.continue();
  });
  await order.getByRole('button', { name: 'Start preparing' }).click();
  await order.waitFor({ state: 'detached' });
  const number = id.slice(0, 8).toUpperCase();
  await waitForText(page.getByRole('alert'), `${number}: The order cannot take this step.`);
});

it('a double-click takes one step, which the page of the order takes back', async () => {
  const { id, page, order } = await openDayWithOrder();
  await order.getByRole('button', { name: 'Start preparing' }).dblclick();
  await order.getByRole('button', { name: 'Ready to be collected' }).waitFor();
  await page.goto(`/manage/orders/${id}`);
  await page.getByRole('button', { name: 'Back to “New”' }).click();
  await page.getByRole('button', { name: 'Start preparing' }).waitFor();
});

it('the page of the day lists overdue orders apart, with the buttons for their next steps', async () => {
  const { page, name, order } = await openDayWithOrder();
  await changeResponses<{ orders: object[]; overdue: object[] }>(page, '**/days/*', (data) => ({
    ...data,
    orders: [],
    overdue: data.orders,
  }));
  await page.reload();
  await page.getByRole('list', { name: 'Overdue orders' }).getByText(name, { exact: true }).waitFor();
  await order.getByRole('button', { name: 'Start preparing' }).waitFor();
});

it.each([
  ['for 30 minutes', /^We take no new orders until/],
  ['today', /^We take no new orders until .*00:00\.$/],
])('one tap stops new orders %s, and another tap undoes it', async (duration, note) => {
  const { page: customerPage } = await createCustomer();
  await customerPage.clock.install();
  const { page } = await openAsAdmin('/manage/today');
  await page.getByRole('button', { name: `No new orders ${duration}` }).click();
  await waitForText(page, 'New orders are paused.');
  await page.locator('h1:focus').waitFor(); // The pressed button has disappeared.
  await customerPage.goto('/');
  await waitForText(customerPage, note);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('button', { name: 'No new orders today' }).waitFor();
  await customerPage.clock.runFor(61_000); // Every page reloads the shop once a minute.
  await customerPage.getByText(note).waitFor({ state: 'detached' });
});

it('the page of the day has buttons for the next day, the previous day and today, which moves the focus to the heading', async () => {
  const { page } = await openAsAdmin('/manage/today');
  await page.getByRole('button', { name: 'Next day' }).click();
  await waitForHeading(page, 'Tomorrow');
  await page.goBack();
  await waitForHeading(page, 'Today');
  await page.getByRole('button', { name: 'Previous day' }).click();
  await page.getByRole('button', { name: 'Today' }).press('Enter'); // This button disappears.
  await page.locator('h1:focus', { hasText: 'Today' }).waitFor();
  await openPage(page, `/manage/today?date=${toShopDate(inDays(3))}`);
  await page.getByRole('button', { name: 'Next day' }).dblclick(); // Both clicks count.
  await page.waitForURL(`**/today?date=${toShopDate(inDays(5))}`);
});

it('a page of the day that stays open after midnight shows the new day', async () => {
  const eka = await createCustomer({ name: makeUnique('Eka') });
  await placePaidOrder(eka.page, { pickup_at: inDays(1).toISOString() });
  const { page } = await openAsAdmin('/manage/today');
  await page.clock.install();
  await page.reload();
  await page.getByRole('heading', { name: 'To bake' }).waitFor();
  expect(await findOrders(page, eka).count()).toBe(0);
  await page.clock.fastForward('24:00:00');
  await findOrders(page, eka).waitFor();
  await waitForHeading(page, 'Today');
});

it.each([
  ['page of the day', '/manage/today', '**/api/admin/days/*'],
  ['list of orders', '/manage/orders', '**/api/admin/orders'],
])('the %s reloads itself, and says that it may be outdated if a reload has failed', async (_, path, url) => {
  const gita = await createCustomer({ name: makeUnique('Gita') });
  const { page } = await openAsAdmin(path);
  await page.clock.install();
  await openPage(page, path); // The page uses the installed clock only after a reload.
  await placePaidOrder(gita.page);
  await page.clock.runFor(16_000); // The page polls every 15 seconds.
  await findOrders(page, gita).waitFor();
  await page.route(url, (route) => route.abort());
  await page.clock.runFor(16_000);
  const message = page.getByRole('alert').getByText('This may be outdated. We cannot reach the bakery.');
  await message.waitFor();
  expect(await findOrders(page, gita).count()).toBe(1);
  await page.unroute(url);
  await page.clock.runFor(16_000);
  await message.waitFor({ state: 'detached' });
});

it('a day with a very long product name prints on one A4 page and on the 80 mm paper of a receipt printer', async () => {
  // No other test places orders for this day.
  const pickup = inDays(9);
  const date = toShopDate(pickup);
  const fitri = await createCustomer({ name: makeUnique('Fitri') });
  const details = { note: 'Please slice it', pickup_at: pickup.toISOString() };
  await inParallel(11, () => placePaidOrder(fitri.page, details));
  const { id } = await createProduct('x'.repeat(110), 20_000);
  await placePaidOrder(fitri.page, { quantities: { [id]: 1 }, ...details });
  const { page } = await openAsAdmin(`/manage/today?date=${date}`);
  await findOrders(page, fitri).nth(11).waitFor();
  await expectGoodPrint(page);
});
