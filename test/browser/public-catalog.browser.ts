import {
  DESKTOP,
  findViolations,
  measureOverflow,
  newEmail,
  newShopper,
  PASSWORD,
  PHONE,
  publicStorefrontUrl,
  search,
  takeScreenshot,
  waitForHeading,
  waitForText,
} from './support/shopper.js';

it('a visitor of a public catalog browses, fills a cart, and signs in only to order', async () => {
  const { page, problems } = await newShopper(DESKTOP, publicStorefrontUrl);
  await page.goto('/');
  await waitForHeading(page, 'Baked before sunrise');
  await search(page, 'legit lapis');
  await page.getByRole('link', { name: 'Kue lapis legit' }).click();
  await waitForHeading(page, 'Kue lapis legit');
  await page.getByRole('button', { name: 'Add to cart' }).click();
  await page.getByRole('link', { name: /^Cart/ }).click();
  await waitForText(page, 'Total, 1 piece');
  await page.getByRole('link', { name: 'Sign in to order' }).click();
  await page.getByRole('link', { name: 'Create an account' }).click();
  await page.getByLabel('Your name').fill('Ayu Lestari');
  await page.getByLabel('E-mail').fill(newEmail());
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByLabel('Repeat password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('link', { name: 'Do it later' }).click();
  await waitForText(page, 'Total, 1 piece');
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForHeading(page, 'Waiting for payment');
  expect(problems).toEqual([]);
});

it('orders and the account need an account, also in a shop with a public catalog', async () => {
  const { page } = await newShopper(DESKTOP, publicStorefrontUrl);
  for (const path of ['/orders', '/profile', '/manage/today']) {
    await page.goto(path);
    await waitForHeading(page, 'Welcome back');
  }
});

it.each([PHONE, DESKTOP])('public pages fit a window of $width px and are accessible', async (size) => {
  const { page, problems } = await newShopper(size, publicStorefrontUrl);
  await page.goto('/');
  await page.getByRole('link', { name: 'Kue lapis legit' }).waitFor();
  expect(await measureOverflow(page)).toBe(0);
  expect(await findViolations(page)).toEqual([]);
  await takeScreenshot(page, `public-catalog-${size.width}`);
  await page.getByRole('link', { name: 'Kue lapis legit' }).click();
  await page.getByRole('button', { name: 'Add to cart' }).click();
  await page.getByRole('link', { name: /^Cart/ }).click();
  await waitForText(page, 'Sign in to order');
  expect(await findViolations(page)).toEqual([]);
  await takeScreenshot(page, `public-cart-${size.width}`);
  expect(problems).toEqual([]);
});
