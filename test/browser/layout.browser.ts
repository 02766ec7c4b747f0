import type { Page } from 'playwright-core';
import {
  DESKTOP,
  heading,
  overflow,
  PHONE,
  photograph,
  picturesLoaded,
  register,
  sees,
  serviceUrl,
  shopperOf,
  signInAsAdmin,
  violations,
} from './support/shopper.js';

const WIDTHS = { phone: PHONE, desktop: DESKTOP } as const;
/** Checked for overflow besides. */
const NARROWEST = 360;
const TABLET = 768;

type SizeName = keyof typeof WIDTHS;

describe.each(Object.keys(WIDTHS) as SizeName[])('on a %s', (size) => {
  it('pages for visitors fit the screen and are accessible', async () => {
    const { page, problems } = await shopperOf(WIDTHS[size]);
    await page.goto('/');
    await heading(page, 'Bread that was dough an hour ago');
    await looksGood(page, `welcome-${size}`);
    await page.goto('/register');
    await page.getByRole('button', { name: 'Create account' }).click();
    await sees(page, 'Your name is required.');
    await looksGood(page, `register-${size}`);
    await page.goto('/login');
    await heading(page, 'Welcome back');
    await looksGood(page, `login-${size}`);
    await page.goto('/forgot');
    await page.getByLabel('E-mail').fill('no-account@example.com');
    await page.getByRole('button', { name: 'Send the code' }).click();
    await heading(page, 'Choose a new password');
    await looksGood(page, `reset-${size}`);
    await page.goto('/nowhere');
    await sees(page, 'There is nothing here');
    await looksGood(page, `lost-${size}`);
    expect(problems).toEqual([]);
  });

  it('pages for customers fit the screen and are accessible', async () => {
    const { page, problems } = await shopperOf(WIDTHS[size]);
    await register(page, 'Wolfeschlegelsteinhausenbergerdorff Nama-Yang-Sangat-Panjang');
    await page.getByRole('link', { name: 'Kue lapis legit' }).waitFor();
    await picturesLoaded(page);
    await looksGood(page, `catalog-${size}`);
    await page.goto('/?q=bagel');
    await page.getByRole('link', { name: /^Bagel wijen no\. 1 Rp/ }).waitFor();
    await looksGood(page, `search-some-${size}`);
    await page.goto('/?q=pizza');
    await sees(page, 'Nothing found');
    await looksGood(page, `search-nothing-${size}`);
    await page.goto('/cart');
    await sees(page, 'Nothing in it yet');
    await looksGood(page, `cart-empty-${size}`);
    await page.goto('/orders');
    await sees(page, 'No orders yet');
    await looksGood(page, `orders-empty-${size}`);
    for (const name of ['Kue lapis legit', 'Bagel wijen no. 1']) {
      await page.goto('/');
      await page.getByRole('link', { name }).click();
      await heading(page, name);
      await page.getByRole('button', { name: 'Add to cart' }).click();
      await looksGood(page, `product-${name.split(' ', 1)[0]?.toLowerCase() ?? ''}-${size}`);
    }
    await page.goto('/cart');
    await sees(page, 'Total, 2 pieces');
    await looksGood(page, `cart-${size}`);
    await page.getByRole('button', { name: 'Order and pay' }).click();
    await heading(page, 'Waiting for payment');
    await looksGood(page, `order-${size}`);
    await page.goto('/orders');
    await sees(page, '1 order in all.');
    await looksGood(page, `orders-${size}`);
    await page.goto('/profile');
    await heading(page, 'Your account');
    await looksGood(page, `profile-${size}`);
    await page.goto('/products/999999');
    await sees(page, 'We do not bake this any more');
    await looksGood(page, `product-gone-${size}`);
    expect(problems).toEqual([]);
  });

  it('pages for administrators fit the screen and are accessible', async () => {
    const { page, problems } = await shopperOf(WIDTHS[size]);
    await signInAsAdmin(page);
    await page.goto('/manage/products');
    await page.getByRole('link', { name: 'Edit Kue lapis legit' }).waitFor();
    await looksGood(page, `manage-products-${size}`);
    await page.getByRole('link', { name: 'Edit Kue lapis legit' }).click();
    await page.getByRole('button', { name: 'Remove picture 2' }).click();
    await looksGood(page, `manage-editor-${size}`);
    await page.goto('/manage/orders');
    // Of the customer of the test before; the end of the list may be further down than the window.
    const order = page.getByRole('link', { name: /Wolfeschlegel/ }).first();
    await order.waitFor();
    await looksGood(page, `manage-orders-${size}`);
    await order.click();
    await heading(page, 'Order');
    await page.getByRole('heading', { name: 'Fulfilment' }).waitFor();
    await looksGood(page, `manage-order-${size}`);
    expect(problems).toEqual([]);
  });

  it('the catalog fits the screen and is accessible while it loads and when it fails', async () => {
    const { page } = await shopperOf(WIDTHS[size]);
    await register(page);
    let answer: ((fail: boolean) => void) | undefined;
    await page.route(`${serviceUrl}/api/products**`, async (route) => {
      const isFailing = await new Promise<boolean>((resolve) => (answer = resolve));
      if (isFailing) await route.abort();
      else await route.continue();
    });
    await page.reload();
    await page.locator('.grid > .skeleton').first().waitFor();
    await looksGood(page, `catalog-loading-${size}`);
    answer?.(true);
    await sees(page, 'We cannot reach the bakery.');
    await looksGood(page, `catalog-failed-${size}`);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('.grid > .skeleton').first().waitFor();
    answer?.(false);
    await page.getByRole('link', { name: 'Kue lapis legit' }).waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });
});

/** No horizontal overflow, also at other widths of its kind, and nothing serious that axe-core finds. */
async function looksGood(page: Page, name: string): Promise<void> {
  const size = page.viewportSize() ?? DESKTOP;
  const widths = [size.width < TABLET ? NARROWEST : TABLET, size.width];
  for (const width of widths) {
    await page.setViewportSize({ ...size, width });
    expect({ name, width, overflow: await overflow(page) }).toEqual({ name, width, overflow: 0 });
  }
  expect({ name, violations: await violations(page) }).toEqual({ name, violations: [] });
  await photograph(page, name, !/^(catalog|search-some|manage-products)/.test(name));
}
