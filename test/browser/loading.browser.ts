import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const ASSETS = join(import.meta.dirname, '..', '..', 'examples', 'storefront', 'dist', 'assets');

it('all scripts of the storefront together have at most 130 kB, compressed', async () => {
  const names = (await readdir(ASSETS)).filter((name) => name.endsWith('.js'));
  expect(names.length).toBeGreaterThan(0);
  const scripts = await Promise.all(names.map((name) => readFile(join(ASSETS, name))));
  const sizes = scripts.map((script) => gzipSync(script, { level: 9 }).length);
  expect(sizes.reduce((total, size) => total + size, 0)).toBeLessThanOrEqual(130_000);
});
