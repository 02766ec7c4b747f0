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

it('the scripts of the catalog have at most 115 kB, compressed', async () => {
  const page = await readFile(join(dist, 'index.html'), 'utf8');
  const names = [...page.matchAll(/\/assets\/([\w-]+\.js)"/g)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(0);
  expect(await measureCompressed(names)).toBeLessThanOrEqual(115_000);
});

it('all scripts of the storefront together have at most 175 kB, compressed', async () => {
  const names = (await readdir(ASSETS)).filter((name) => name.endsWith('.js'));
  expect(names.length).toBeGreaterThan(1);
  expect(await measureCompressed(names)).toBeLessThanOrEqual(175_000);
});
