import type { Page } from 'playwright-core';
import {
  DESKTOP,
  waitForHeading,
  measureOverflow,
  PHONE,
  takeScreenshot,
  waitForPictures,
  register,
  waitForText,
  serviceUrl,
  newShopper,
  signInAsAdmin,
  findViolations,
} from './support/shopper.js';

const WIDTHS = { phone: PHONE, desktop: DESKTOP } as const;
/** Further widths that are checked for overflow. */
const NARROWEST = 360;
const TABLET = 768;

type SizeName = keyof typeof WIDTHS;

describe.each(Object.keys(WIDTHS) as SizeName[])('on a %s', (size) => {
  it('pages for visitors fit the screen and are accessible', async () => {
    const { page, problems } = await newShopper(WIDTHS[size]);
    await page.goto('/');
    await waitForHeading(page, 'Bread that was dough an hour ago');
    await expectGoodLayout(page, `welcome-${size}`);
    await page.goto('/register');
    await page.getByRole('button', { name: 'Create account' }).click();
    await waitForText(page, 'Your name is required.');
    await expectGoodLayout(page, `register-${size}`);
    await page.goto('/login');
    await waitForHeading(page, 'Welcome back');
    await expectGoodLayout(page, `login-${size}`);
    await page.goto('/forgot');
    await page.getByLabel('E-mail').fill('no-account@example.com');
    await page.getByRole('button', { name: 'Send the code' }).click();
    await waitForHeading(page, 'Choose a new password');
    await expectGoodLayout(page, `reset-${size}`);
    await page.goto('/nowhere');
    await waitForText(page, 'There is nothing here');
    await expectGoodLayout(page, `lost-${size}`);
    expect(problems).toEqual([]);
  });

  it('pages for customers fit the screen and are accessible', async () => {
    const { page, problems } = await newShopper(WIDTHS[size]);
    await register(page, 'Wolfeschlegelsteinhausenbergerdorff Nama-Yang-Sangat-Panjang');
    await page.getByRole('link', { name: 'Kue lapis legit' }).waitFor();
    await waitForPictures(page);
    await expectGoodLayout(page, `catalog-${size}`);
    await page.goto('/?q=bagel');
    await page.getByRole('link', { name: /^Bagel wijen no\. 1 Rp/ }).waitFor();
    await expectGoodLayout(page, `search-some-${size}`);
    await page.goto('/?q=pizza');
    await waitForText(page, 'Nothing found');
    await expectGoodLayout(page, `search-nothing-${size}`);
    await page.goto('/cart');
    await waitForText(page, 'Nothing in it yet');
    await expectGoodLayout(page, `cart-empty-${size}`);
    await page.goto('/orders');
    await waitForText(page, 'No orders yet');
    await expectGoodLayout(page, `orders-empty-${size}`);
    for (const name of ['Kue lapis legit', 'Bagel wijen no. 1']) {
      await page.goto('/');
      await page.getByRole('link', { name }).click();
      await waitForHeading(page, name);
      await page.getByRole('button', { name: 'Add to cart' }).click();
      await expectGoodLayout(page, `product-${name.split(' ', 1)[0]?.toLowerCase() ?? ''}-${size}`);
    }
    await page.goto('/cart');
    await waitForText(page, 'Total, 2 pieces');
    await expectGoodLayout(page, `cart-${size}`);
    await page.getByRole('button', { name: 'Order and pay' }).click();
    await waitForHeading(page, 'Waiting for payment');
    await expectGoodLayout(page, `order-${size}`);
    await page.goto('/orders');
    await waitForText(page, '1 order in all.');
    await expectGoodLayout(page, `orders-${size}`);
    await page.goto('/profile');
    await waitForHeading(page, 'Your account');
    await expectGoodLayout(page, `profile-${size}`);
    await page.goto('/products/999999');
    await waitForText(page, 'This product is sold out or no longer baked.');
    await expectGoodLayout(page, `product-gone-${size}`);
    expect(problems).toEqual([]);
  });

  it('pages for administrators fit the screen and are accessible', async () => {
    const { page, problems } = await newShopper(WIDTHS[size]);
    await signInAsAdmin(page);
    await page.goto('/manage/products');
    await page.getByRole('link', { name: 'Edit Kue lapis legit' }).waitFor();
    await expectGoodLayout(page, `manage-products-${size}`);
    await page.getByRole('link', { name: 'Edit Kue lapis legit' }).click();
    await page.getByRole('button', { name: 'Remove picture 2' }).click();
    await expectGoodLayout(page, `manage-editor-${size}`);
    await page.goto('/manage/orders');
    // Order of the customer of the previous test. The end of the list may be outside of the window.
    const order = page.getByRole('link', { name: /Wolfeschlegel/ }).first();
    await order.waitFor();
    await expectGoodLayout(page, `manage-orders-${size}`);
    await order.click();
    await waitForHeading(page, 'Order');
    await page.getByRole('heading', { name: 'Fulfilment' }).waitFor();
    await expectGoodLayout(page, `manage-order-${size}`);
    expect(problems).toEqual([]);
  });

  it('the catalog fits the screen and is accessible while it loads and when it fails', async () => {
    const { page } = await newShopper(WIDTHS[size]);
    await register(page);
    let answer: ((fail: boolean) => void) | undefined;
    await page.route(`${serviceUrl}/api/products**`, async (route) => {
      const isFailing = await new Promise<boolean>((resolve) => (answer = resolve));
      if (isFailing) await route.abort();
      else await route.continue();
    });
    await page.reload();
    await page.locator('.grid > .skeleton').first().waitFor();
    await expectGoodLayout(page, `catalog-loading-${size}`);
    answer?.(true);
    await waitForText(page, 'We cannot reach the bakery.');
    await expectGoodLayout(page, `catalog-failed-${size}`);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('.grid > .skeleton').first().waitFor();
    answer?.(false);
    await page.getByRole('link', { name: 'Kue lapis legit' }).waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });
});

/** Expects no horizontal overflow, also at other widths, and no violation that axe-core finds. */
async function expectGoodLayout(page: Page, name: string): Promise<void> {
  const size = page.viewportSize() ?? DESKTOP;
  const widths = [size.width < TABLET ? NARROWEST : TABLET, size.width];
  for (const width of widths) {
    await page.setViewportSize({ ...size, width });
    expect({ name, width, overflow: await measureOverflow(page) }).toEqual({ name, width, overflow: 0 });
  }
  expect({ name, violations: await findViolations(page) }).toEqual({ name, violations: [] });
  await takeScreenshot(page, name, !/^(catalog|search-some|manage-products)/.test(name));
}
