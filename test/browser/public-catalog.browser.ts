import { expectGoodLayout } from './support/layout.js';
import { waitForHeading, waitForText } from './support/page.js';
import { publicShop } from './support/settings.js';
import { createEmail, createVisitor } from './support/shopper.js';
import { choosePickup, submitRegistration } from './support/steps.js';

it('a visitor of a public catalog browses, fills a cart, and needs an account only to order', async () => {
  const { page } = await createVisitor({ baseURL: publicShop.storefrontUrl });
  await page.goto('/');
  await waitForHeading(page, 'Baked before sunrise');
  await page.getByRole('link', { name: 'Kue lapis legit' }).waitFor();
  await expectGoodLayout(page, 'public catalog');
  await page.getByRole('link', { name: 'Kue lapis legit' }).click();
  await waitForHeading(page, 'Kue lapis legit');
  await page.getByRole('button', { name: 'Add to cart' }).click();
  await page.getByRole('link', { name: /^Cart/ }).click();
  await waitForText(page, 'Total, 1 piece');
  await expectGoodLayout(page, 'cart of a visitor');
  await page.getByRole('link', { name: 'Sign in to order' }).click();
  await page.getByRole('link', { name: 'Create an account' }).click();
  await submitRegistration(page, createEmail());
  await page.getByRole('link', { name: 'Do it later' }).click();
  await waitForText(page, 'Total, 1 piece');
  await page.getByRole('button', { name: 'Order and pay' }).click();
  const missingTime = page.getByText('Choose when you will collect your order.');
  await missingTime.waitFor();
  await page.locator('select:focus').and(page.getByLabel('Day')).waitFor();
  expect(await page.getByLabel('Day').getAttribute('aria-invalid')).toBe('true');
  await expectGoodLayout(page, 'cart without a pickup time');
  await choosePickup(page);
  await missingTime.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForHeading(page, 'Waiting for payment');
});

it('the pages of orders, of the profile and of administrators need a sign-in, also in a shop with a public catalog', async () => {
  const { page } = await createVisitor({ baseURL: publicShop.storefrontUrl });
  for (const path of ['/orders', '/profile', '/manage/today']) {
    await page.goto(path);
    await waitForHeading(page, 'Welcome back');
  }
});
