import type { Page } from 'playwright-core';
import { waitForHeading } from './shopper.js';

/** Orders a product as the customer who is signed in. @returns the payment page */
export async function orderProduct(page: Page, name: string): Promise<Page> {
  await page.goto('/');
  await page.getByRole('link', { name }).click();
  await page.getByRole('button', { name: 'Add to cart' }).click();
  await page.getByRole('link', { name: /^Cart/ }).click();
  const opened = page.context().waitForEvent('page');
  await page.getByRole('button', { name: 'Order and pay' }).click();
  const payment = await opened;
  // A tab that is closed while it is loading may hang.
  await payment.getByRole('button', { name: 'Pay with QRIS' }).waitFor();
  return payment;
}

/** Orders a product and pays for it. @returns the order's id */
export async function buyProduct(page: Page, name: string): Promise<string> {
  const payment = await orderProduct(page, name);
  await payment.getByRole('button', { name: 'Pay with QRIS' }).click();
  await waitForHeading(page, 'Paid');
  return readOrderId(page);
}

/** Returns the id of the order whose page is open. */
export function readOrderId(page: Page): string {
  return new URL(page.url()).pathname.split('/').at(-1) ?? '';
}

/** Counts the pages of a PDF file that Chromium has written. */
export function countPages(pdf: Buffer): number {
  return pdf.toString('latin1').match(/\/Type\s*\/Page\b(?!s)/g)?.length ?? 0;
}
