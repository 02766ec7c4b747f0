import type { Locator, Page } from 'playwright-core';
import { waitForHeading } from './page.js';
import { PASSWORD } from './shopper.js';

/** Adds a product to the cart, opens the cart, and chooses a pickup unless a time is chosen. */
export async function addToCartAndChoosePickup(page: Page, productId: number): Promise<void> {
  await page.goto(`/products/${productId}`);
  await page.getByRole('button', { name: 'Add to cart' }).click();
  // The cart loads its products when it is opened.
  const loaded = page.waitForResponse(new RegExp(`/api/products/${productId}$`));
  await page.getByRole('link', { name: /^Cart/ }).click();
  await waitForHeading(page, 'Your cart');
  await (await loaded).finished();
  await choosePickup(page);
}

/** Chooses the first day with pickup times in the cart, unless a time is chosen. */
export async function choosePickup(page: Page): Promise<void> {
  const day = page.getByLabel('Day');
  if ((await day.inputValue()) === '') await day.selectOption({ index: 1 });
}

/** Orders the cart. Returns the payment page. */
export async function orderCart(page: Page): Promise<Page> {
  await choosePickup(page);
  const opened = page.context().waitForEvent('page');
  await page.getByRole('button', { name: 'Order and pay' }).click();
  const payment = await opened;
  // A tab that is closed while it is loading may hang.
  await payment.getByRole('button', { name: 'Pay with QRIS' }).waitFor();
  await waitForHeading(page, 'Waiting for payment');
  return payment;
}

export async function submitRegistration(page: Page, email: string): Promise<void> {
  await page.getByLabel('Your name').fill('Ayu Lestari');
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByLabel('Repeat password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create account' }).click();
}

/** Signs in on the page of the sign-in, or in the dialog over another page. */
export async function submitSignIn(scope: Page | Locator, email: string, password: string): Promise<void> {
  await scope.getByLabel('Email').fill(email);
  await scope.getByLabel('Password').fill(password);
  await scope.getByRole('button', { name: 'Sign in', exact: true }).click();
}
