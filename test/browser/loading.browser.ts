import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const DIST = join(import.meta.dirname, '..', '..', 'examples', 'storefront', 'dist');

async function measureCompressed(name: string): Promise<number> {
  return gzipSync(await readFile(join(DIST, 'assets', name)), { level: 9 }).length;
}

it('the scripts of the catalog have at most 115 kB, compressed', async () => {
  const page = await readFile(join(DIST, 'index.html'), 'utf8');
  const names = [...page.matchAll(/\/assets\/([\w-]+\.js)"/g)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(0);
  const sizes = await Promise.all(names.map(measureCompressed));
  expect(sizes.reduce((total, size) => total + size, 0)).toBeLessThanOrEqual(115_000);
});

it('all scripts of the storefront together have at most 175 kB, compressed', async () => {
  const names = (await readdir(join(DIST, 'assets'))).filter((name) => name.endsWith('.js'));
  expect(names.length).toBeGreaterThan(1);
  const sizes = await Promise.all(names.map(measureCompressed));
  expect(sizes.reduce((total, size) => total + size, 0)).toBeLessThanOrEqual(175_000);
});
