// Starts the browser and the shops, fills their catalogs and runs the tests.
// `node test/browser/run.mjs [arguments for Jest]`
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';
import { Processes } from '../../bench/processes.mjs';
import { loadMessages } from '../../examples/storefront/scripts/load-messages.mjs';
import config from './jest.config.mjs';
import { fillCatalog } from './support/catalog.mjs';
import { ADMIN, buildStorefront, startShop } from './support/shops.mjs';

/** Enough for three pages of the list. */
const PRODUCTS = 120;
const PRODUCTS_OF_PUBLIC_SHOP = 12;

const BROWSER_ARGS = ['--disable-gpu', '--disable-quic', '--disable-sync'];

process.chdir(join(import.meta.dirname, '..', '..'));
const executablePath = findBrowser();
if (executablePath === undefined) {
  console.error('no Chromium was found, so nothing is tested: install one, or set BROWSER to its path');
  const isInCi = !['', 'false', undefined].includes(process.env.CI);
  process.exit(isInCi ? 1 : 0); // CI must have a browser.
}

const folder = await mkdtemp(join(tmpdir(), 'bakery-browser-'));
// If root runs the tests, the embedded PostgreSQL runs as another user, who needs access.
await chmod(folder, 0o755);
const processes = new Processes(folder);
/** Folder of the built storefront. */
const storefront = join(folder, 'storefront');
let code = 1;
try {
  code = await runTests();
} catch (error) {
  console.error(error);
} finally {
  await processes.stopAll();
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = code;

async function runTests() {
  buildStorefront(storefront);
  // Each Jest worker has a shop of its own, and all workers share the public shop.
  const [publicShop, ...shops] = await Promise.all([
    startFilledShop('public-shop', PRODUCTS_OF_PUBLIC_SHOP, { CATALOG_ACCESS: 'public' }),
    ...Array.from({ length: config.maxWorkers }, (_, index) =>
      startFilledShop(`shop-${index + 1}`, PRODUCTS),
    ),
  ]);
  const texts = { en: await loadMessages('en'), id: await loadMessages('id') };
  const browser = await chromium.launchServer({ executablePath, args: BROWSER_ARGS });
  const env = {
    ...process.env,
    NODE_OPTIONS: '--experimental-vm-modules --no-warnings',
    TEST_BROWSER: browser.wsEndpoint(),
    TEST_SETTINGS: JSON.stringify({
      shops,
      publicShop,
      admin: ADMIN,
      dist: storefront,
      texts,
      productCount: PRODUCTS,
    }),
  };
  const args = ['--config', join('test', 'browser', 'jest.config.mjs'), ...process.argv.slice(2)];
  const jest = spawn(join('node_modules', '.bin', 'jest'), args, { stdio: 'inherit', env });
  const [exitCode] = await once(jest, 'close');
  await browser.close();
  return exitCode ?? 1;
}

async function startFilledShop(name, products, settings = {}) {
  const shop = await startShop(processes, join(folder, name), storefront, settings);
  await fillCatalog(shop.serviceUrl, ADMIN, products);
  return shop;
}

/** Returns BROWSER, or a Chromium or Chrome on the path. */
function findBrowser() {
  const { BROWSER, PATH = '' } = process.env;
  if (BROWSER) return BROWSER;
  return ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
    .flatMap((name) => PATH.split(delimiter).map((path) => join(path, name)))
    .find((path) => existsSync(path));
}
