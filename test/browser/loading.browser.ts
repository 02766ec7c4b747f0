import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { waitForPictures, waitForText } from './support/page.js';
import { dist } from './support/settings.js';
import { createCustomer, PHONE } from './support/shopper.js';

interface LayoutShift extends PerformanceEntry {
  readonly value: number;
}

declare global {
  var layoutShift: number;
}

const ASSETS = join(dist, 'assets');

async function measureCompressed(names: readonly string[]): Promise<number> {
  const sizes = await Promise.all(
    names.map(async (name) => gzipSync(await readFile(join(ASSETS, name)), { level: 9 }).length),
  );
  return sizes.reduce((total, size) => total + size, 0);
}

it('the compressed scripts of one language have at most 118 kB for the catalog and 180 kB for all pages', async () => {
  const html = await readFile(join(dist, 'index.html'), 'utf8');
  const firstPageScripts = [...html.matchAll(/\/assets\/([\w-]+\.js)"/g)].map(([, name = '']) => name);
  const scripts = (await readdir(ASSETS)).filter((name) => name.endsWith('.js'));
  const allScripts = scripts.filter((name) => !name.startsWith('messages-en'));
  firstPageScripts.push(...allScripts.filter((name) => name.startsWith('messages-id')));
  expect(firstPageScripts.length).toBeGreaterThan(0);
  expect(allScripts.length).toBeGreaterThan(firstPageScripts.length);
  expect(await measureCompressed(firstPageScripts)).toBeLessThanOrEqual(118_000);
  expect(await measureCompressed(allScripts)).toBeLessThanOrEqual(180_000);
});

it('the catalog, a product and the cart hardly jump while they load on a phone', async () => {
  const { page } = await createCustomer({ viewport: PHONE });
  await sumLayoutShifts(page);
  for (const [path, text] of [
    ['/', 'Kue lapis legit'],
    ['/products/1', 'Eighteen layers'],
    ['/cart', 'Nothing in it yet'],
  ] as const) {
    await page.goto(path);
    await waitForText(page, text);
    await waitForPictures(page);
    expect(await page.evaluate(() => globalThis.layoutShift)).toBeLessThan(0.05);
  }
});

it('the catalog offers its pictures in two widths, and loads those below the first row when they come near', async () => {
  const { page } = await createCustomer();
  await page.goto('/');
  await waitForText(page, 'Kue lapis legit');
  const pictures = await page.getByRole('list', { name: 'Products' }).locator('img').all();
  const loading = await Promise.all(pictures.map((picture) => picture.getAttribute('loading')));
  expect(loading.slice(0, 4)).toEqual(['eager', 'eager', 'eager', 'eager']);
  expect(new Set(loading.slice(4))).toEqual(new Set(['lazy']));
  expect(await pictures[0]?.getAttribute('srcset')).toMatch(/^\S+\?w=480 480w, \S+\?w=960 960w$/);
});

/** Sums the layout shifts of each page in `layoutShift`. */
function sumLayoutShifts(page: Page): Promise<unknown> {
  return page.addInitScript(() => {
    globalThis.layoutShift = 0;
    const add = (shifts: PerformanceObserverEntryList) => {
      for (const { value } of shifts.getEntries() as LayoutShift[]) globalThis.layoutShift += value;
    };
    new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true });
  });
}
