import type { Page } from 'playwright-core';
import {
  waitForHeading,
  readMailedCode,
  newEmail,
  measureOverflow,
  PASSWORD,
  PHONE,
  takeScreenshot,
  takeReadmeScreenshot,
  register,
  waitForText,
  serviceUrl,
  newShopper,
  storefrontUrl,
} from './support/shopper.js';
import { PRODUCTS } from './support/catalog.mjs';

it('a customer registers, verifies, scrolls to the end, orders, pays and sees it paid', async () => {
  expect(new URL(storefrontUrl).origin).not.toBe(new URL(serviceUrl).origin);
  const { context, page, problems } = await newShopper();
  const email = newEmail();

  await page.goto('/');
  await page.getByRole('link', { name: 'Create an account' }).click();
  await page.getByRole('button', { name: 'Create account' }).click();
  await waitForText(page, 'Your name is required.');
  expect(await page.getByLabel('Your name').getAttribute('aria-invalid')).toBe('true');
  await page.getByLabel('Your name').fill('Ayu Lestari');
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByLabel('Repeat password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create account' }).click();

  await waitForHeading(page, 'Check your mail');
  await page.getByLabel('Code').fill('000000');
  await page.getByRole('button', { name: 'Verify' }).click();
  await waitForText(page, 'Invalid or expired code.');
  await page.getByLabel('Code').fill(await readMailedCode(email));
  await page.getByRole('button', { name: 'Verify' }).click();
  await waitForText(page, 'Your e-mail address is verified.');

  await waitForHeading(page, 'Baked before sunrise');
  await page.getByRole('link', { name: 'Kue lapis legit' }).waitFor();
  await takeReadmeScreenshot(page, 'catalog-desktop');
  // Tests in another file may have added a product.
  const end = page.getByText(/^That is all we bake: \d+ products\.$/);
  for (let turns = 0; !(await end.isVisible()); turns += 1) {
    if (turns > PRODUCTS) throw new Error(`no end: ${await page.locator('main').innerText()}`);
    const shown = await cards(page).count();
    await page.evaluate(() => {
      window.scrollTo(0, document.documentElement.scrollHeight);
    });
    await page.waitForFunction(
      (before) =>
        document.querySelectorAll('a.card').length > before || document.querySelector('.end') !== null,
      shown,
    );
  }
  const count = await cards(page).count();
  expect(count).toBeGreaterThanOrEqual(PRODUCTS);
  await waitForText(page, `That is all we bake: ${count} products.`);

  await cards(page).last().click();
  await page.getByRole('button', { name: 'Add to cart' }).click();
  await page.goBack();
  // The scroll position is restored.
  await end.waitFor();
  expect(await page.evaluate(() => window.scrollY)).toBeGreaterThan(1000);
  await page.getByRole('link', { name: 'Kue lapis legit' }).click();
  await waitForHeading(page, 'Kue lapis legit');
  await page.getByRole('button', { name: 'Show picture 2 of 3' }).click();
  await page.getByRole('img', { name: 'Kue lapis legit, picture 2 of 3' }).waitFor();
  await page.getByRole('button', { name: 'One more of Kue lapis legit' }).click();
  await page.getByRole('button', { name: 'Add to cart' }).click();
  await page.reload();
  await page.getByRole('link', { name: /^Cart/ }).click();
  await page.getByRole('button', { name: /^Remove (?!Kue lapis legit)/ }).click();
  await waitForText(page, 'Total, 2 pieces');
  await takeScreenshot(page, 'cart-desktop');

  const paymentPage = context.waitForEvent('page');
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForHeading(page, 'Waiting for payment');
  const simulator = await paymentPage;
  await simulator.getByRole('button', { name: 'Pay with QRIS' }).click();
  await waitForHeading(simulator, /Paid|Settled|settlement/i);
  await waitForHeading(page, 'Paid');
  await takeScreenshot(page, 'order-paid-desktop');

  await page.getByRole('link', { name: '← Your orders' }).click();
  await page.getByRole('link', { name: /2 × Kue lapis legit.*Paid/ }).waitFor();
  await waitForText(page, '1 order in all.');
  expect(problems).toEqual([]);
});

it('the page of an order shows that it was cancelled or that its payment was denied', async () => {
  const { context, page, problems } = await newShopper(PHONE);
  await register(page);
  const orderOne = async (): Promise<Page> => {
    await page.goto('/');
    await page.getByRole('link', { name: 'Donat kentang' }).click();
    await waitForHeading(page, 'Donat kentang');
    await takeReadmeScreenshot(page, 'product-phone');
    await page.getByRole('button', { name: 'Add to cart' }).click();
    await page.getByRole('link', { name: /^Cart/ }).click();
    const opened = context.waitForEvent('page');
    await page.getByRole('button', { name: 'Order and pay' }).click();
    const payment = await opened;
    // A tab that is closed while it is loading may hang.
    await findDenyButton(payment).waitFor();
    await waitForHeading(page, 'Waiting for payment');
    return payment;
  };

  await (await orderOne()).close();
  await takeScreenshot(page, 'order-pending-phone');
  await page.getByRole('button', { name: 'Cancel order' }).click();
  await page.getByRole('dialog', { name: 'Cancel this order?' }).waitFor();
  await takeScreenshot(page, 'dialog-phone');
  await page.keyboard.press('Escape');
  await waitForHeading(page, 'Waiting for payment');
  await page.getByRole('button', { name: 'Cancel order' }).click();
  await page.getByRole('button', { name: 'Cancel the order' }).click();
  await waitForHeading(page, 'Cancelled');

  const simulator = await orderOne();
  expect(await measureOverflow(simulator)).toBeLessThanOrEqual(0);
  await findDenyButton(simulator).click();
  await waitForHeading(page, 'Payment denied');
  expect(problems).toEqual([]);
});

it('a customer signs in, orders and pays by keyboard only', async () => {
  const { context, page, problems } = await newShopper();
  const email = await register(page);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await waitForHeading(page, 'Bread that was dough an hour ago');

  await tabTo(page, 'Sign in');
  await page.keyboard.press('Enter');
  await waitForHeading(page, 'Welcome back');
  await page.keyboard.type(email);
  await tabTo(page, 'Password');
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');
  await waitForHeading(page, 'Baked before sunrise');
  await page.getByRole('link', { name: 'Butter croissant' }).waitFor();
  await tabTo(page, /^Butter croissant/);
  await page.keyboard.press('Enter');
  await waitForHeading(page, 'Butter croissant');
  await tabTo(page, 'Add to cart');
  await page.keyboard.press('Enter');
  await waitForText(page, 'Butter croissant is in your cart');
  await tabTo(page, /^Cart/, 'Shift+Tab');
  await page.keyboard.press('Enter');
  await waitForHeading(page, 'Your cart');
  await tabTo(page, 'Order and pay');
  const opened = context.waitForEvent('page');
  await page.keyboard.press('Enter');
  const simulator = await opened;
  await waitForHeading(page, 'Waiting for payment');
  await simulator.getByRole('button', { name: 'Pay by card' }).waitFor();
  await tabTo(simulator, /^Pay by card/);
  await simulator.keyboard.press('Enter');
  await waitForHeading(page, 'Paid');
  expect(problems).toEqual([]);
});

it('the focus moves to the heading of a new page and stays there while content loads', async () => {
  const { page } = await newShopper();
  await register(page);
  await page.getByRole('link', { name: 'Butter croissant' }).waitFor();
  expect(await readFocusedHeading(page)).toBe('Baked before sunrise');
  const product = page.waitForResponse(/\/api\/products\/\d+$/);
  await page.getByRole('link', { name: 'Butter croissant' }).click();
  await waitForHeading(page, 'Butter croissant');
  await (await product).finished();
  expect(await readFocusedHeading(page)).toBe('Butter croissant');
  await page.getByRole('button', { name: 'Add to cart' }).click();
  await page.getByRole('link', { name: /^Cart/ }).click();
  await waitForHeading(page, 'Your cart');
  expect(await readFocusedHeading(page)).toBe('Your cart');
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await waitForHeading(page, 'Waiting for payment');
  expect(await readFocusedHeading(page)).toBe('Waiting for payment');
  const { pathname } = new URL(page.url());
  // After a full reload, the order is not cached before its page opens.
  await page.goto('/orders');
  await page.locator(`a[href="${pathname}"]`).click();
  await waitForHeading(page, 'Waiting for payment');
  expect(await readFocusedHeading(page)).toBe('Waiting for payment');
});

/** Finds the button of the payment page that denies the payment. */
function findDenyButton(payment: Page) {
  return payment.getByRole('button', { name: /den(y|ied)|refuse/i }).first();
}

/** Returns the text of the page's heading, once it has the focus. */
function readFocusedHeading(page: Page): Promise<string | null> {
  return page.locator('h1:focus').textContent();
}

function cards(page: Page) {
  return page.getByRole('list', { name: 'Products' }).getByRole('link');
}

/** Presses Tab until the element with this name has the focus, with a visible outline. */
async function tabTo(page: Page, name: string | RegExp, key = 'Tab'): Promise<void> {
  const LONGEST_WAY = 60;
  const seen: string[] = [];
  for (let step = 0; step < LONGEST_WAY; step += 1) {
    await page.keyboard.press(key);
    const focused = await page.evaluate(() => {
      const element = document.activeElement;
      const label = element instanceof HTMLInputElement ? element.labels?.[0]?.textContent : null;
      return {
        name: element?.getAttribute('aria-label') ?? label ?? element?.textContent.trim() ?? '',
        outline: element === null ? 0 : parseFloat(getComputedStyle(element).outlineWidth),
      };
    });
    seen.push(focused.name);
    if (typeof name === 'string' ? focused.name !== name : !name.test(focused.name)) continue;
    expect(focused.outline).toBeGreaterThanOrEqual(2);
    return;
  }
  throw new Error(`${String(name)} is not reached by ${key}: ${seen.join(' | ')}`);
}
