import {
  DESKTOP,
  waitForHeading,
  measureOverflow,
  PHONE,
  takeScreenshot,
  register,
  search,
  waitForText,
  newShopper,
  signInAsAdmin,
  takeFulfilmentStep,
  findViolations,
} from './support/shopper.js';
import { buyProduct, orderProduct } from './support/steps.js';

it('the owner takes an order from the search to collected, and its customer sees each step', async () => {
  const customer = await newShopper();
  const name = `Sari Wulandari ${Date.now()}`;
  const email = await register(customer.page, name);
  await buyProduct(customer.page, 'Donat kentang');
  await waitForText(customer.page, 'We have your order and start soon.');

  const { page, problems } = await newShopper();
  await signInAsAdmin(page);
  await page.getByRole('link', { name: 'Manage' }).click();
  await page.getByRole('navigation', { name: 'Manage' }).getByRole('link', { name: 'Orders' }).click();
  await search(page, name.slice(5).toUpperCase());
  await waitForText(page, '1 order found.');
  await page.getByLabel('Payment').selectOption('pending');
  await page.getByRole('status').getByText('Nothing found').waitFor();
  await page.getByLabel('Payment').selectOption('settlement');
  await page.getByLabel('Fulfilment').selectOption('new');
  await page.getByRole('link', { name }).click();
  await waitForHeading(page, 'Order');
  await page.getByRole('link', { name: email }).waitFor();
  await waitForText(page, 'Notification, applied');
  await waitForText(page, '1 × Rp 12.000');

  const STEPS = [
    ['Start preparing', 'Preparing', 'We are baking for you.'],
    ['Ready to be collected', 'Ready', 'Your order is ready. Come and collect it.'],
    ['Handed over', 'Collected', 'Enjoy it!'],
  ] as const;
  for (const [button, state, text] of STEPS) {
    await page.getByRole('button', { name: button }).click();
    await page.getByRole('status').getByText(state, { exact: true }).waitFor();
    // The pressed button has disappeared, but the focus is not lost.
    await page.locator('h2:focus').waitFor();
    await waitForText(customer.page, text);
  }
  expect(await page.getByRole('button', { name: 'Refuse' }).count()).toBe(0);
  await takeScreenshot(page, 'manage-order-collected-desktop', true);
  await takeScreenshot(customer.page, 'order-collected-desktop', true);
  // The list still has its search and its filters.
  await page.getByRole('link', { name: '← Back to the list' }).click();
  expect(await page.getByRole('searchbox').inputValue()).toBe(name.slice(5).toUpperCase());
  await waitForText(page, 'No orders match your search.');
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.getByRole('link', { name }).getByText('Collected').waitFor();
  expect([...problems, ...customer.problems]).toEqual([]);
});

it('a step that another administrator took meanwhile is rejected with a message, and the page shows the new state', async () => {
  const customer = await newShopper();
  await register(customer.page);
  const id = await buyProduct(customer.page, 'Butter croissant');
  const { page, problems } = await newShopper();
  await signInAsAdmin(page);
  await page.goto(`/manage/orders/${id}`);
  await page.getByRole('button', { name: 'Start preparing' }).waitFor();
  expect((await takeFulfilmentStep(id, 'preparing')).status).toBe(200);
  await page.getByRole('button', { name: 'Start preparing' }).click();
  await page.getByRole('alert').getByText('The order cannot become preparing.').waitFor();
  await page.getByRole('button', { name: 'Ready to be collected' }).waitFor();

  await page.getByRole('button', { name: 'Refuse' }).click();
  await page.getByRole('button', { name: 'Refuse without a refund' }).click();
  await page.getByRole('status').getByText('Refused').waitFor();
  await waitForText(customer.page, 'We are sorry, we cannot make this order.');
  for (const { width, height } of [PHONE, DESKTOP]) {
    await page.setViewportSize({ width, height });
    expect(await measureOverflow(page)).toBe(0);
    expect(await findViolations(page)).toEqual([]);
    await takeScreenshot(page, `manage-order-refused-${width}`, true);
    await customer.page.setViewportSize({ width, height });
    expect(await measureOverflow(customer.page)).toBe(0);
    expect(await findViolations(customer.page)).toEqual([]);
    await takeScreenshot(customer.page, `order-refused-${width}`, true);
  }
  expect(problems).toEqual([]);
});

it('a customer searches by keyboard and gets back to the results from a product', async () => {
  const { page, problems } = await newShopper(PHONE);
  await register(page);
  await page.getByRole('searchbox', { name: 'Find bread or cake' }).fill('LAPIS');
  await page.keyboard.press('Enter');
  await waitForText(page, '1 product with “LAPIS” in the name.');
  expect(new URL(page.url()).search).toBe('?q=LAPIS');
  await page.getByRole('link', { name: 'Kue lapis legit' }).click();
  await waitForHeading(page, 'Kue lapis legit');
  await page.goBack();
  await waitForText(page, '1 product with “LAPIS” in the name.');
  expect(await page.getByRole('searchbox').inputValue()).toBe('LAPIS');
  await search(page, '50 % off_');
  await waitForText(page, 'Nothing that we bake has “50 % off_” in its name.');
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.getByRole('link', { name: 'Butter croissant' }).waitFor();
  expect(await page.locator('input:focus').inputValue()).toBe('');
  expect(problems).toEqual([]);
});

it('the list of orders reloads itself and announces new orders', async () => {
  const { page, problems } = await newShopper();
  await signInAsAdmin(page);
  await page.clock.install();
  await page.goto('/manage/orders');
  await page.getByRole('list', { name: 'Orders, newest first' }).getByRole('link').first().waitFor();
  // The page must not reload while the customer orders, however long that takes.
  await page.clock.pauseAt(new Date(Date.now() + 2_000));
  const customer = await newShopper();
  const name = `Budi ${Date.now()}`;
  await register(customer.page, name);
  await orderProduct(customer.page, 'Donat kentang');
  const reloaded = page.waitForResponse(/\/api\/admin\/orders\?/);
  await page.clock.runFor(16_000);
  await reloaded;
  await page.clock.runFor(1_000);
  await page.getByRole('status').getByText('1 new order.').waitFor();
  await page.getByRole('link', { name }).waitFor();
  expect(problems).toEqual([]);
});
