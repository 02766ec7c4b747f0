import type { Page } from 'playwright-core';
import {
  heading,
  mailedCode,
  newEmail,
  overflow,
  PASSWORD,
  PHONE,
  photograph,
  portrait,
  register,
  sees,
  serviceUrl,
  shopperOf,
  storefrontUrl,
} from './support/shopper.js';
import { PRODUCTS } from './support/catalog.mjs';

it('a customer registers, verifies, scrolls to the end, orders, pays and sees it paid', async () => {
  expect(new URL(storefrontUrl).origin).not.toBe(new URL(serviceUrl).origin);
  const { context, page, problems } = await shopperOf();
  const email = newEmail();

  await page.goto('/');
  await page.getByRole('link', { name: 'Create an account' }).click();
  await page.getByRole('button', { name: 'Create account' }).click();
  await sees(page, 'Your name is required.');
  expect(await page.getByLabel('Your name').getAttribute('aria-invalid')).toBe('true');
  await page.getByLabel('Your name').fill('Ayu Lestari');
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByLabel('Repeat password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create account' }).click();

  await heading(page, 'Check your mail');
  await page.getByLabel('Code').fill('000000');
  await page.getByRole('button', { name: 'Verify' }).click();
  await sees(page, 'Invalid or expired code.');
  await page.getByLabel('Code').fill(await mailedCode(email));
  await page.getByRole('button', { name: 'Verify' }).click();
  await sees(page, 'Your e-mail address is verified.');

  await heading(page, 'Baked before sunrise');
  await page.getByRole('link', { name: 'Kue lapis legit' }).waitFor();
  await portrait(page, 'catalog-desktop');
  // The tests of another file may have added a product meanwhile.
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
  await sees(page, `That is all we bake: ${count} products.`);

  await cards(page).last().click();
  await page.getByRole('button', { name: 'Add to cart' }).click();
  await page.goBack();
  // The same place, not the top again.
  await end.waitFor();
  expect(await page.evaluate(() => window.scrollY)).toBeGreaterThan(1000);
  await page.getByRole('link', { name: 'Kue lapis legit' }).click();
  await heading(page, 'Kue lapis legit');
  await page.getByRole('button', { name: 'Show picture 2 of 3' }).click();
  await page.getByRole('img', { name: 'Kue lapis legit, picture 2 of 3' }).waitFor();
  await page.getByRole('button', { name: 'One more of Kue lapis legit' }).click();
  await page.getByRole('button', { name: 'Add to cart' }).click();
  await page.reload();
  await page.getByRole('link', { name: /^Cart/ }).click();
  await page.getByRole('button', { name: /^Remove (?!Kue lapis legit)/ }).click();
  await sees(page, 'Total, 2 pieces');
  await photograph(page, 'cart-desktop');

  const paymentPage = context.waitForEvent('page');
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await heading(page, 'Waiting for payment');
  const simulator = await paymentPage;
  await simulator.getByRole('button', { name: 'Pay with QRIS' }).click();
  await heading(simulator, /Paid|Settled|settlement/i);
  await heading(page, 'Paid');
  await photograph(page, 'order-paid-desktop');

  await page.getByRole('link', { name: '← Your orders' }).click();
  await page.getByRole('link', { name: /2 × Kue lapis legit.*Paid/ }).waitFor();
  await sees(page, '1 order in all.');
  expect(problems).toEqual([]);
});

it('an order that is cancelled or denied says so', async () => {
  const { context, page, problems } = await shopperOf(PHONE);
  await register(page);
  const orderOne = async (): Promise<Page> => {
    await page.goto('/');
    await page.getByRole('link', { name: 'Donat kentang' }).click();
    await heading(page, 'Donat kentang');
    await portrait(page, 'product-phone');
    await page.getByRole('button', { name: 'Add to cart' }).click();
    await page.getByRole('link', { name: /^Cart/ }).click();
    const opened = context.waitForEvent('page');
    await page.getByRole('button', { name: 'Order and pay' }).click();
    const payment = await opened;
    // A tab that is closed or asked while it loads may never answer.
    await refusal(payment).waitFor();
    await heading(page, 'Waiting for payment');
    return payment;
  };

  await (await orderOne()).close();
  await photograph(page, 'order-pending-phone');
  await page.getByRole('button', { name: 'Cancel order' }).click();
  await page.getByRole('dialog', { name: 'Cancel this order?' }).waitFor();
  await photograph(page, 'dialog-phone');
  await page.keyboard.press('Escape');
  await heading(page, 'Waiting for payment');
  await page.getByRole('button', { name: 'Cancel order' }).click();
  await page.getByRole('button', { name: 'Cancel the order' }).click();
  await heading(page, 'Cancelled');

  const simulator = await orderOne();
  expect(await overflow(simulator)).toBeLessThanOrEqual(0);
  await refusal(simulator).click();
  await heading(page, 'Payment denied');
  expect(problems).toEqual([]);
});

it('a customer gets from the sign-in to a paid order by keyboard only', async () => {
  const { context, page, problems } = await shopperOf();
  const email = await register(page);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await heading(page, 'Bread that was dough an hour ago');

  await tabTo(page, 'Sign in');
  await page.keyboard.press('Enter');
  await heading(page, 'Welcome back');
  await page.keyboard.type(email);
  await tabTo(page, 'Password');
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');
  await heading(page, 'Baked before sunrise');
  await page.getByRole('link', { name: 'Butter croissant' }).waitFor();
  await tabTo(page, /^Butter croissant/);
  await page.keyboard.press('Enter');
  await heading(page, 'Butter croissant');
  await tabTo(page, 'Add to cart');
  await page.keyboard.press('Enter');
  await sees(page, 'Butter croissant is in your cart');
  await tabTo(page, /^Cart/, 'Shift+Tab');
  await page.keyboard.press('Enter');
  await heading(page, 'Your cart');
  await tabTo(page, 'Order and pay');
  const opened = context.waitForEvent('page');
  await page.keyboard.press('Enter');
  const simulator = await opened;
  await heading(page, 'Waiting for payment');
  await simulator.getByRole('button', { name: 'Pay by card' }).waitFor();
  await tabTo(simulator, /^Pay by card/);
  await simulator.keyboard.press('Enter');
  await heading(page, 'Paid');
  expect(problems).toEqual([]);
});

it('the focus goes to the heading of a new page, and stays there when its content is loaded', async () => {
  const { page } = await shopperOf();
  await register(page);
  await page.getByRole('link', { name: 'Butter croissant' }).waitFor();
  expect(await focusedHeading(page)).toBe('Baked before sunrise');
  const product = page.waitForResponse(/\/api\/products\/\d+$/);
  await page.getByRole('link', { name: 'Butter croissant' }).click();
  await heading(page, 'Butter croissant');
  await (await product).finished();
  expect(await focusedHeading(page)).toBe('Butter croissant');
  await page.getByRole('button', { name: 'Add to cart' }).click();
  await page.getByRole('link', { name: /^Cart/ }).click();
  await heading(page, 'Your cart');
  expect(await focusedHeading(page)).toBe('Your cart');
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await heading(page, 'Waiting for payment');
  expect(await focusedHeading(page)).toBe('Waiting for payment');
  const { pathname } = new URL(page.url());
  // Opened from the list on a new start, an order is not known before it is loaded.
  await page.goto('/orders');
  await page.locator(`a[href="${pathname}"]`).click();
  await heading(page, 'Waiting for payment');
  expect(await focusedHeading(page)).toBe('Waiting for payment');
});

/** The button of the payment page that refuses the payment. */
function refusal(payment: Page) {
  return payment.getByRole('button', { name: /den(y|ied)|refuse/i }).first();
}

/** Text of the focused element, if it is a page's heading. */
function focusedHeading(page: Page): Promise<string | null> {
  return page.locator('h1:focus').textContent();
}

function cards(page: Page) {
  return page.getByRole('list', { name: 'Products' }).getByRole('link');
}

/** Presses Tab until what has this name is focused, and seen to be. */
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
