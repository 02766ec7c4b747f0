import { waitForHeading, waitForText } from './support/page.js';
import { newCustomer, newEmail, newVisitor, PASSWORD } from './support/shopper.js';

it('a password reset continues at its second step after a reload', async () => {
  const { page } = await newVisitor();
  await page.goto('/forgot');
  await page.getByLabel('E-mail').fill(newEmail());
  await page.getByRole('button', { name: 'Send the code' }).click();
  await waitForHeading(page, 'Choose a new password');
  await waitForText(page, 'If you asked less than a minute ago, use the code that you have.');
  await page.reload();
  await waitForHeading(page, 'Choose a new password');
  await page.getByRole('link', { name: 'Use another address' }).click();
  await waitForHeading(page, 'Forgot your password?');
});

it('a wrong current password is reported at its own field', async () => {
  const { page } = await newCustomer();
  await page.goto('/profile');
  await page.getByLabel('Current password').fill('a wrong one');
  await page.getByLabel('New password').fill(PASSWORD);
  await page.getByLabel('Repeat password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Change password' }).click();
  await waitForText(page, 'Your current password is incorrect.');
  expect(await page.getByLabel('Current password').getAttribute('aria-invalid')).toBe('true');
  expect(await page.locator('input:focus').getAttribute('name')).toBe('currentPassword');

  await page.getByLabel('New e-mail').fill(newEmail());
  await page.getByLabel('Password', { exact: true }).fill('a wrong one');
  await page.getByRole('button', { name: 'Change e-mail' }).click();
  await page.locator('input[name=password][aria-invalid]').waitFor();
});
