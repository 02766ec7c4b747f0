import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { dist } from './support/settings.js';

const ASSETS = join(dist, 'assets');

async function measureCompressed(names: readonly string[]): Promise<number> {
  const sizes = await Promise.all(
    names.map(async (name) => gzipSync(await readFile(join(ASSETS, name)), { level: 9 }).length),
  );
  return sizes.reduce((total, size) => total + size, 0);
}

it('the compressed scripts have at most 115 kB for the first page and at most 175 kB for the whole storefront', async () => {
  const page = await readFile(join(dist, 'index.html'), 'utf8');
  const ofFirstPage = [...page.matchAll(/\/assets\/([\w-]+\.js)"/g)].map(([, name = '']) => name);
  const all = (await readdir(ASSETS)).filter((name) => name.endsWith('.js'));
  expect(ofFirstPage.length).toBeGreaterThan(0);
  expect(all.length).toBeGreaterThan(ofFirstPage.length);
  expect(await measureCompressed(ofFirstPage)).toBeLessThanOrEqual(115_000);
  expect(await measureCompressed(all)).toBeLessThanOrEqual(175_000);
});
