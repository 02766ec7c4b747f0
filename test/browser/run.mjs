// Starts the built service and the built storefront on free ports, fills the catalog and runs the tests in Chromium.
// `node test/browser/run.mjs [arguments for Jest]`
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fillCatalog } from './support/catalog.mjs';

const ROOT = join(import.meta.dirname, '..', '..');
const STOREFRONT = join(ROOT, 'examples', 'storefront');
const ADMIN = { email: 'admin@bakery.example', password: 'the admin password' };
const START_DEADLINE_MS = 60_000;
/** Products of the shop whose catalog is public. */
const FEW_PRODUCTS = 12;

process.chdir(ROOT);
const browser = findBrowser();
if (browser === undefined) {
  const message = 'no Chromium was found: install one, or name one in the variable BROWSER';
  if (process.env.CI === undefined || process.env.CI === '' || process.env.CI === 'false') {
    console.log(`skipped: ${message}`);
    process.exit(0);
  }
  console.error(message);
  process.exit(1);
}

const children = [];
const folder = await mkdtemp(join(tmpdir(), 'bakery-browser-'));
// If root runs the tests, the embedded PostgreSQL runs as another user, who needs access.
await chmod(folder, 0o755);
let code = 1;
try {
  code = await run();
} catch (error) {
  console.error(error);
} finally {
  await Promise.all(children.map(stop));
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = code;

async function run() {
  const shop = await startShop(join(folder, 'shop'), join(STOREFRONT, 'dist'), {});
  const publicShop = await startShop(join(folder, 'public-shop'), join(folder, 'public-dist'), {
    CATALOG_ACCESS: 'public',
  });
  await fillCatalog(shop.serviceUrl, ADMIN);
  await fillCatalog(publicShop.serviceUrl, ADMIN, FEW_PRODUCTS);

  const jest = spawn(
    process.execPath,
    [
      '--experimental-vm-modules',
      '--no-warnings',
      join('node_modules', 'jest', 'bin', 'jest.js'),
      '--config',
      join('test', 'browser', 'jest.config.mjs'),
      ...process.argv.slice(2),
    ],
    {
      stdio: 'inherit',
      env: {
        ...process.env,
        BROWSER: browser,
        TEST_SERVICE_URL: shop.serviceUrl,
        TEST_STOREFRONT_URL: shop.storefrontUrl,
        TEST_PUBLIC_STOREFRONT_URL: publicShop.storefrontUrl,
        TEST_OUTBOX: join(folder, 'shop', 'outbox'),
        TEST_ADMIN: JSON.stringify(ADMIN),
      },
    },
  );
  const [exitCode] = await once(jest, 'close');
  return exitCode ?? 1;
}

/** Starts a service on free ports, and a build of the storefront for it. */
async function startShop(dataDir, outDir, settings) {
  const [servicePort, storefrontPort] = [await freePort(), await freePort()];
  const serviceUrl = `http://localhost:${servicePort}`;
  await mkdir(dataDir);
  const service = start(['--enable-source-maps', 'dist/src/main.js'], ROOT, {
    NODE_ENV: 'development',
    LOG_LEVEL: 'warn',
    HOST: '127.0.0.1',
    PORT: String(servicePort),
    PUBLIC_URL: serviceUrl,
    DATA_DIR: dataDir,
    ADMIN_EMAIL: ADMIN.email,
    ADMIN_PASSWORD: ADMIN.password,
    ...settings,
  });
  buildStorefront(serviceUrl, outDir);
  const vite = join('node_modules', 'vite', 'bin', 'vite.js');
  const args = ['preview', '--outDir', outDir, '--port', String(storefrontPort), '--strictPort'];
  const storefront = start([vite, ...args, '--host', '127.0.0.1'], STOREFRONT, {});
  await waitUntilReady(service, `http://127.0.0.1:${servicePort}/api/health/ready`);
  await waitUntilReady(storefront, `http://127.0.0.1:${storefrontPort}/`);
  return { serviceUrl, storefrontUrl: `http://localhost:${storefrontPort}` };
}

/** Returns BROWSER, or a Chromium or Chrome on the path. */
function findBrowser() {
  const { BROWSER, PATH = '' } = process.env;
  if (BROWSER !== undefined && BROWSER !== '') {
    if (existsSync(BROWSER)) return BROWSER;
    console.error(`BROWSER names ${BROWSER}, which does not exist`);
    process.exit(1);
  }
  return ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
    .flatMap((name) => PATH.split(delimiter).map((folder) => join(folder, name)))
    .find((path) => existsSync(path));
}

function buildStorefront(serviceUrl, outDir) {
  const { status } = spawnSync(
    'npm',
    ['run', '--silent', 'build', '--', '--logLevel', 'warn', '--outDir', outDir, '--emptyOutDir'],
    {
      cwd: STOREFRONT,
      stdio: 'inherit',
      env: { ...process.env, VITE_API_URL: serviceUrl },
    },
  );
  if (status !== 0) throw new Error('the storefront cannot be built');
}

function start(args, cwd, settings) {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const process_ = { child, output: '' };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => (process_.output += chunk));
  }
  children.push(process_);
  return process_;
}

async function waitUntilReady(started, url) {
  const deadline = Date.now() + START_DEADLINE_MS;
  for (;;) {
    const isReady = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (isReady) return;
    if (started.child.exitCode !== null || Date.now() > deadline) {
      throw new Error(`${url} does not respond. Its output:\n${started.output}`);
    }
    await delay(50);
  }
}

async function stop({ child }) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const ended = once(child, 'close');
  const timeout = delay(15_000).then(() => child.kill('SIGKILL'));
  await Promise.race([ended, timeout]);
}

async function freePort() {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
