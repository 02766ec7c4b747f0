import type { Page } from 'playwright-core';
import { createPng } from '../support/pictures.js';
import { expectGoodLayout } from './support/layout.js';
import { clickAgain, openPage, waitForHeading, waitForText } from './support/page.js';
import { LIKE_BROWSER } from './support/requests.js';
import { admin, serviceUrl, storefrontUrl } from './support/settings.js';
import { CROISSANT, makeUnique } from './support/shop.js';
import {
  createAdmin,
  createCustomer,
  createEmail,
  createVisitor,
  PASSWORD,
  PHONE,
} from './support/shopper.js';
import { addToCartAndChoosePickup, submitSignIn } from './support/steps.js';

/** Returns the dialog over a page whose session has ended. */
function getSignInDialog(page: Page) {
  return page.getByRole('dialog', { name: 'Please sign in again' });
}

it('the form of a product keeps its values and pictures when the session ends, and is saved after the same person has signed in', async () => {
  const name = makeUnique('Roti sesi');
  const { context, page } = await createAdmin({ viewport: PHONE });
  await openPage(page, '/manage/products/new');
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Price in rupiah').fill('12.000');
  await page.getByLabel('Description').fill('Typed before the session ended.');
  const picture = { name: 'sesi.png', mimeType: 'image/png', buffer: createPng('sesi') };
  await page.getByLabel('Add pictures').setInputFiles([picture]);
  await page.getByRole('img', { name: 'sesi.png' }).waitFor();
  await context.clearCookies();
  const create = page.getByRole('button', { name: 'Create product' });
  await create.click();
  const dialog = getSignInDialog(page);
  expect(await dialog.getByLabel('Email').inputValue()).toBe(admin.email);
  const password = dialog.getByLabel('Password');
  await password.and(page.locator(':focus')).waitFor();
  await expectGoodLayout(page, 'sign in again');
  // Escape leaves the dialog open.
  for (let times = 0; times < 3; times += 1) await page.keyboard.press('Escape');
  await password.and(page.locator(':focus')).fill('wrong');
  await page.keyboard.press('Enter');
  await waitForText(dialog, 'Email or password is incorrect.');
  await password.fill(admin.password);
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await create.and(page.locator(':focus')).waitFor();
  await waitForText(page, 'Your session had ended. Please try again.');
  await create.click();
  await waitForText(page, `${name} is saved.`);
  expect(await page.getByLabel('Description').inputValue()).toBe('Typed before the session ended.');
  await page.getByRole('img', { name: 'picture 1' }).waitFor();
});

it('a page that is opened after the end of the session loads its data after the sign-in, also in Indonesian', async () => {
  const { context, page } = await createCustomer({ locale: 'id-ID' });
  await page.goto('/profile');
  await waitForHeading(page, 'Akun Anda');
  await context.clearCookies();
  await page.getByRole('link', { name: 'Pesanan' }).click();
  const dialog = page.getByRole('dialog', { name: 'Silakan masuk lagi' });
  await page.reload();
  await dialog.getByLabel('Kata sandi').fill(PASSWORD);
  await dialog.getByRole('button', { name: 'Masuk', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  await waitForText(page, 'Belum ada pesanan');
});

it('after the end of a session, the sign-in leads back to the wanted page, and a form in another tab keeps its values until a sign-out', async () => {
  const { context, page, email } = await createCustomer();
  await openPage(page, '/profile');
  await page.getByLabel('Your name').fill('Ayu Wulandari');
  const other = await context.newPage();
  await other.goto('/');
  await other.getByRole('link', { name: 'Butter croissant' }).waitFor();
  await context.clearCookies();
  await other.getByRole('link', { name: 'Butter croissant' }).click();
  await waitForHeading(other, 'Welcome back');
  await waitForText(other, 'Your session has ended. Please sign in again.');
  await getSignInDialog(page).waitFor();
  await submitSignIn(other, email, 'wrong');
  await waitForText(other, 'Email or password is incorrect.');
  await submitSignIn(other, email, PASSWORD);
  await waitForHeading(other, 'Butter croissant');
  await getSignInDialog(page).waitFor({ state: 'detached' });
  expect(await page.getByLabel('Your name').inputValue()).toBe('Ayu Wulandari');
  await page.getByRole('button', { name: 'Save name' }).click();
  await waitForText(page, 'Your name is saved.');
  await other.getByRole('button', { name: 'Sign out' }).click();
  await waitForHeading(page, 'Welcome back');
});

it('after the email was changed on another device, the customer signs in over the open page with the new email', async () => {
  const { context, page, email } = await createCustomer();
  await openPage(page, '/profile');
  await page.getByLabel('Your name').fill('Ayu Wulandari');
  const changed = createEmail();
  const data = { email: changed, password: PASSWORD };
  await context.request.patch(`${serviceUrl}/api/users`, { ...LIKE_BROWSER, data, failOnStatusCode: true });
  await context.clearCookies();
  await page.getByRole('button', { name: 'Save name' }).click();
  const dialog = getSignInDialog(page);
  expect(await dialog.getByLabel('Email').inputValue()).toBe(email);
  await submitSignIn(dialog, changed, PASSWORD);
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Save name' }).click();
  await waitForText(page, 'Your name is saved.');
  await waitForText(page, 'Ayu Wulandari');
});

it.each([
  ['on the page of the sign-in', true],
  ['in the dialog over the page', false],
])(
  'after the end of a session, somebody who signs in %s gets neither the typed values nor the cart and its note',
  async (_place, leavesPage) => {
    const { context, page } = await createCustomer();
    const other = await createCustomer({ name: 'Budi Santoso' });
    await addToCartAndChoosePickup(page, CROISSANT);
    await page.getByLabel('Note').fill('Selamat ulang tahun');
    await page.getByRole('link', { name: 'Account' }).click();
    await page.getByLabel('Your name').fill('Ayu Wulandari');
    await context.clearCookies();
    await page.getByRole('button', { name: 'Save name' }).click();
    const dialog = getSignInDialog(page);
    if (leavesPage) await dialog.getByRole('button', { name: 'Sign in as someone else' }).click();
    await submitSignIn(leavesPage ? page : dialog, other.email, PASSWORD);
    await waitForText(page, 'Budi Santoso');
    await waitForHeading(page, 'Your account');
    expect(await page.getByLabel('Your name').inputValue()).toBe('Budi Santoso');
    await page.getByRole('link', { name: /^Cart/ }).click();
    await waitForText(page, 'Nothing in it yet');
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('Selamat ulang tahun');
  },
);

it('a user who signed in with the first version of the storefront stays signed in', async () => {
  const { page } = await createCustomer();
  await page.goto('/orders');
  await waitForHeading(page, 'Your orders');
  await page.evaluate(() => {
    const { state } = JSON.parse(localStorage.getItem('bakery.session') ?? '{}') as {
      state: { user: object };
    };
    const stored = { state: { person: state.user }, version: 1 };
    localStorage.setItem('bakery.session', JSON.stringify(stored));
  });
  await page.reload();
  await waitForHeading(page, 'Your orders');
  await waitForText(page, 'Ayu Lestari');
});

it('a sign-in never leads to another site', async () => {
  const { email } = await createCustomer();
  for (const next of ['/.//other.example', '//other.example', 'https://other.example/', '/\\other.example']) {
    const { page } = await createVisitor();
    await page.goto(`/login?next=${encodeURIComponent(next)}`);
    await submitSignIn(page, email, PASSWORD);
    await waitForHeading(page, 'Baked before sunrise');
    expect([next, page.url()]).toEqual([next, `${storefrontUrl}/`]);
  }
});

it('the tabs of a customer share the cart and the session', async () => {
  const { context, page } = await createCustomer();
  const other = await context.newPage();
  await page.goto('/');
  await other.goto('/cart');
  await waitForText(other, 'Nothing in it yet');
  await page.getByRole('link', { name: 'Roti sobek pandan' }).click();
  await page.getByRole('button', { name: 'Add to cart' }).click();
  await other.getByRole('link', { name: 'Roti sobek pandan' }).waitFor();
  await other.getByRole('button', { name: 'One more of Roti sobek pandan' }).click();
  await page.getByRole('link', { name: /^Cart ?, 2 pieces$/ }).waitFor();

  // Both tabs refresh the access token at the same time.
  await context.clearCookies({ name: 'accessToken' });
  await Promise.all([
    page.getByRole('link', { name: 'Orders' }).click(),
    other.getByRole('link', { name: 'Orders' }).click(),
  ]);
  await waitForText(page, 'No orders yet');
  await waitForText(other, 'No orders yet');

  await page.getByRole('button', { name: 'Sign out' }).click();
  // The sign-out leads to the start page of visitors. The other tab shows a page of customers, so it asks for a sign-in.
  await waitForHeading(page, 'Bread that was dough an hour ago');
  await waitForHeading(other, 'Welcome back');
});

it('a sign-out removes the phone number from the browser, even without the script of the cart', async () => {
  const { page } = await createCustomer();
  await addToCartAndChoosePickup(page, CROISSANT);
  await page.getByLabel('Phone').fill('0812-3456-7890');
  await page.route('**/api/orders', (route) => route.abort());
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForText(page, 'We cannot reach the bakery.');
  const readStorage = () => page.evaluate(() => JSON.stringify([localStorage, sessionStorage]));
  expect(await readStorage()).toContain('0812-3456-7890');
  await page.route('**/assets/orders-*.js', (route) => route.abort());
  await page.goto('/');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await waitForHeading(page, 'Bread that was dough an hour ago');
  expect(await readStorage()).not.toContain('0812-3456-7890');
});

it('a page that could not be loaded without a connection is loaded when the connection is back', async () => {
  const { context, page } = await createCustomer();
  const scriptOfOrders = page.waitForResponse('**/assets/orders-*.js');
  await page.goto('/');
  await scriptOfOrders;
  await context.setOffline(true);
  await waitForText(page, 'You are offline.');
  await page.getByRole('link', { name: 'Orders' }).click();
  await waitForText(page, 'We cannot reach the bakery.');
  await page.getByRole('button', { name: 'Try again' }).click();
  await waitForText(page, 'We cannot reach the bakery.');
  await context.setOffline(false);
  await waitForText(page, 'No orders yet');
  expect(await page.getByText('You are offline.').count()).toBe(0);

  // The script of this page is not loaded yet.
  await context.setOffline(true);
  await page.getByRole('link', { name: 'Account' }).click();
  await waitForText(page, 'That did not work');
  await context.setOffline(false);
  await waitForHeading(page, 'Your account');
});

it('a password reset starts from the dialog over a page too, and stays at its second step until another address is used', async () => {
  const { context, page, email } = await createCustomer();
  await openPage(page, '/orders');
  await context.clearCookies();
  await page.reload();
  await getSignInDialog(page).getByRole('link', { name: 'Forgot your password?' }).click();
  await waitForHeading(page, 'Forgot your password?');
  expect(new URL(page.url()).search).toBe('?next=%2Forders');
  expect(await page.getByLabel('Email').inputValue()).toBe(email);
  await page.getByRole('button', { name: 'Send the code' }).click();
  await waitForHeading(page, 'Choose a new password');
  await waitForText(page, 'If you asked less than a minute ago, use the code that you have.');
  await page.reload();
  await waitForHeading(page, 'Choose a new password');
  await page.getByRole('link', { name: 'Use another address' }).click();
  await waitForHeading(page, 'Forgot your password?');
});

it('a double-click on the button of a form sends it once, even if the response comes between the clicks', async () => {
  const { page } = await createCustomer();
  await openPage(page, '/profile');
  let requests = 0;
  page.on('request', (request) => (requests += request.method() === 'PATCH' ? 1 : 0));
  await page.getByRole('button', { name: 'Save name' }).click();
  await waitForText(page, 'Your name is saved.');
  await clickAgain(page);
  await page.getByRole('link', { name: 'Orders' }).click();
  await waitForText(page, 'No orders yet'); // A second request would be sent before the list is loaded.
  expect(requests).toBe(1);
});

it('a wrong current password is reported at the field that contains it', async () => {
  const { page } = await createCustomer();
  await page.goto('/profile');
  await page.getByLabel('Current password').fill('a wrong one');
  await page.getByLabel('New password').fill(PASSWORD);
  await page.getByLabel('Repeat password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Change password' }).click();
  await waitForText(page, 'Your current password is incorrect.');
  expect(await page.getByLabel('Current password').getAttribute('aria-invalid')).toBe('true');
  expect(await page.locator('input:focus').getAttribute('name')).toBe('currentPassword');

  await page.getByLabel('New email').fill(createEmail());
  await page.getByLabel('Password', { exact: true }).fill('a wrong one');
  await page.getByRole('button', { name: 'Change email' }).click();
  await page.locator('input[name=password][aria-invalid]').waitFor();
});
