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

it('the compressed scripts of one language have at most 118 kB for the catalog and 180 kB for all pages', async () => {
  const page = await readFile(join(dist, 'index.html'), 'utf8');
  const ofFirstPage = [...page.matchAll(/\/assets\/([\w-]+\.js)"/g)].map(([, name = '']) => name);
  const scripts = (await readdir(ASSETS)).filter((name) => name.endsWith('.js'));
  const all = scripts.filter((name) => !name.startsWith('messages-en'));
  ofFirstPage.push(...all.filter((name) => name.startsWith('messages-id')));
  expect(ofFirstPage.length).toBeGreaterThan(0);
  expect(all.length).toBeGreaterThan(ofFirstPage.length);
  expect(await measureCompressed(ofFirstPage)).toBeLessThanOrEqual(118_000);
  expect(await measureCompressed(all)).toBeLessThanOrEqual(180_000);
});
