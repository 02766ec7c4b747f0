import {
  waitForHeading,
  PASSWORD,
  takeScreenshot,
  register,
  waitForText,
  newShopper,
  storefrontUrl,
} from './support/shopper.js';

it('an ended session leads to the sign-in and from there back to the page', async () => {
  const { context, page } = await newShopper();
  const email = await register(page);
  await context.clearCookies();
  await page.getByRole('link', { name: 'Orders' }).click();
  await waitForHeading(page, 'Welcome back');
  await waitForText(page, 'Your session has ended. Please sign in again.');
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill('wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await waitForText(page, 'Email or password is incorrect.');
  await page.getByLabel('Password').fill('kue lapis legit');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await waitForHeading(page, 'Your orders');
});

it.each(['/.//other.example', '//other.example', 'https://other.example/', String.raw`/\other.example`])(
  'a sign-in does not lead to another site: ?next=%s',
  async (next) => {
    const { page, problems } = await newShopper();
    const email = await register(page);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await waitForHeading(page, 'Bread that was dough an hour ago');
    await page.goto(`/login?next=${encodeURIComponent(next)}`);
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await waitForHeading(page, 'Baked before sunrise');
    expect(page.url()).toBe(`${storefrontUrl}/`);
    expect(problems).toEqual([]);
  },
);

it('two tabs share the cart, can refresh at the same time, and are signed out together', async () => {
  const { context, page, tab, problems } = await newShopper();
  await register(page);
  const other = await tab();
  await other.goto('/cart');
  await waitForText(other, 'Nothing in it yet');
  await page.getByRole('link', { name: 'Roti sobek pandan' }).click();
  await page.getByRole('button', { name: 'Add to cart' }).click();
  await other.getByRole('link', { name: 'Roti sobek pandan' }).waitFor();
  await other.getByRole('button', { name: 'One more of Roti sobek pandan' }).click();
  await page.getByRole('link', { name: /^Cart ?, 2 pieces$/ }).waitFor();

  await context.clearCookies({ name: 'accessToken' });
  await Promise.all([
    page.getByRole('link', { name: 'Orders' }).click(),
    other.getByRole('link', { name: 'Orders' }).click(),
  ]);
  await waitForText(page, 'No orders yet');
  await waitForText(other, 'No orders yet');

  await page.getByRole('button', { name: 'Sign out' }).click();
  await waitForHeading(page, 'Bread that was dough an hour ago');
  await waitForHeading(other, 'Welcome back');
  expect(problems).toEqual([]);
});

it('a page without a connection says so, has a button to try again, and loads when the connection is back', async () => {
  const { context, page, problems } = await newShopper();
  await register(page);
  await context.setOffline(true);
  await waitForText(page, 'You are offline.');
  await page.getByRole('link', { name: 'Orders' }).click();
  await waitForText(page, 'We cannot reach the bakery.');
  await takeScreenshot(page, 'offline-desktop');
  await page.getByRole('button', { name: 'Try again' }).click();
  await waitForText(page, 'We cannot reach the bakery.');
  await context.setOffline(false);
  await waitForText(page, 'No orders yet');
  expect(await page.getByText('You are offline.').count()).toBe(0);
  expect(problems).toEqual([]);
});
