import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';
import { waitForPictures } from './page.js';
import { texts } from './settings.js';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** WCAG 2.2 AA and best practices. */
const AXE_OPTIONS: RunOptions = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  resultTypes: ['violations'],
};

/** Widths of windows in pixels. */
const WIDTHS = [320, 390, 820, 1280];

/** Patterns of the English texts that differ from the Indonesian ones. Omits texts such as `{from} to {to}`, which would match too much. */
const ENGLISH = Object.entries(texts.en)
  .filter(([key, text]) => text !== texts.id[key])
  .map(([, text]) => text)
  .filter((text) => !text.includes('{') || /[a-z]{4}/.test(text.replaceAll(/\{\w+\}/g, '')))
  .flatMap(toPatterns);

declare global {
  var axe: typeof import('axe-core');
}

/** Expects that no text of the page is one of the storefront's English texts. */
export async function expectIndonesian(page: Page): Promise<void> {
  expect(await page.locator('html').getAttribute('lang')).toBe('id');
  const shown = await page.evaluate(() => {
    const attributes = ['aria-label', 'alt', 'placeholder', 'title'];
    const labels = [...document.querySelectorAll('*')].flatMap((element) =>
      attributes.map((name) => element.getAttribute(name) ?? ''),
    );
    const lines = [...document.querySelectorAll('body *')].flatMap((element) =>
      [...element.childNodes]
        .filter(({ nodeType }) => nodeType === Node.TEXT_NODE)
        .map(({ textContent }) => textContent),
    );
    return [document.title, ...labels, ...lines].map((text) => (text ?? '').trim());
  });
  expect(shown.filter((text) => ENGLISH.some((pattern) => pattern.test(text)))).toEqual([]);
}

/** Returns patterns of an English text, one for each plural form, that match any values for its placeholders. */
function toPatterns(text: string): RegExp[] {
  return ['one', 'other'].map((name) => {
    const plural = new RegExp(`\\{\\w+, plural,.*?\\b${name} \\{([^}]*)\\}.*?\\}(?=[^}]|$)`, 'g');
    const form = text.replaceAll(plural, '$1').replaceAll('#', '{count}');
    const literals = form.split(/\{\w+\}/).map((part) => part.replaceAll(/[.?()+]/g, '\\$&'));
    return new RegExp(`^${literals.join('.+')}$`);
  });
}

/** Expects that a page fits all WIDTHS, and is accessible in each, and in dark colors in the last one. */
export async function expectGoodLayout(page: Page, name: string): Promise<void> {
  const size = page.viewportSize();
  const problems: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    const overflow = await measureOverflow(page);
    if (overflow > 0) problems.push(`${name} at ${width} px: ${overflow} px too wide`);
    const violations = await findViolations(page);
    problems.push(...violations.map((violation) => `${name} at ${width} px: ${violation}`));
  }
  await page.emulateMedia({ colorScheme: 'dark' });
  problems.push(...(await findViolations(page)).map((violation) => `${name} in dark colors: ${violation}`));
  await page.emulateMedia({ colorScheme: null });
  if (size !== null) await page.setViewportSize(size);
  expect(problems).toEqual([]);
}

/** Returns by how many pixels the page is wider than the window. */
export function measureOverflow(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

async function findViolations(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE);
  const { violations } = await page.evaluate((options) => axe.run(document, options), AXE_OPTIONS);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`),
  );
}

/** Expects that a page prints on one A4 page, fits the 80 mm paper of a receipt printer, and hides its buttons in print. */
export async function expectGoodPrint(page: Page): Promise<void> {
  expect(countPages(await page.pdf({ format: 'A4' }))).toBe(1);
  const size = page.viewportSize();
  await page.emulateMedia({ media: 'print' });
  // 80 mm are about 300 px, and the printer leaves a margin.
  await page.setViewportSize({ width: 280, height: 800 });
  const overflow = await measureOverflow(page);
  const buttonCount = await page.getByRole('button').filter({ visible: true }).count();
  await page.emulateMedia({ media: null });
  if (size !== null) await page.setViewportSize(size);
  expect({ overflow, buttonCount }).toEqual({ overflow: 0, buttonCount: 0 });
}

/** Counts the pages of a PDF file that Chromium has written. */
export function countPages(pdf: Buffer): number {
  return pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0;
}

/** Replaces a picture of the README or of a guide if the environment variable SCREENSHOTS is set. */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  if (process.env.SCREENSHOTS === undefined) return;
  await waitForPictures(page);
  await page.locator('.toast').first().waitFor({ state: 'detached' });
  const path = join(ROOT, 'docs', 'screenshots', `${name}.jpg`);
  await page.screenshot({ path, type: 'jpeg', quality: 75 });
}
