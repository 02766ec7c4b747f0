// Starts the built service and the built storefront on ports of their own, fills the catalog, and runs the tests that
// look at them in Chromium. `node test/browser/run.mjs [Jest's arguments]`
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fillCatalog } from './support/catalog.mjs';

const ROOT = join(import.meta.dirname, '..', '..');
const STOREFRONT = join(ROOT, 'examples', 'storefront');
const ADMIN = { email: 'admin@bakery.example', password: 'the admin password' };
const START_DEADLINE_MS = 60_000;

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
const dataDir = await mkdtemp(join(tmpdir(), 'bakery-browser-'));
// As root the embedded PostgreSQL runs as another user, who must get to it.
await chmod(dataDir, 0o755);
let code = 1;
try {
  code = await run();
} catch (error) {
  console.error(error);
} finally {
  await Promise.all(children.map(stop));
  await rm(dataDir, { recursive: true, force: true });
}
process.exitCode = code;

async function run() {
  const [servicePort, storefrontPort] = [await freePort(), await freePort()];
  const serviceUrl = `http://localhost:${servicePort}`;
  const storefrontUrl = `http://localhost:${storefrontPort}`;
  const service = start(['--enable-source-maps', 'dist/src/main.js'], ROOT, {
    NODE_ENV: 'development',
    LOG_LEVEL: 'warn',
    HOST: '127.0.0.1',
    PORT: String(servicePort),
    PUBLIC_URL: serviceUrl,
    DATA_DIR: dataDir,
    ADMIN_EMAIL: ADMIN.email,
    ADMIN_PASSWORD: ADMIN.password,
  });
  buildStorefront(serviceUrl);
  const vite = join('node_modules', 'vite', 'bin', 'vite.js');
  const args = ['preview', '--port', String(storefrontPort), '--strictPort', '--host', '127.0.0.1'];
  const storefront = start([vite, ...args], STOREFRONT, {});
  await answers(service, `http://127.0.0.1:${servicePort}/api/health/ready`);
  await answers(storefront, `http://127.0.0.1:${storefrontPort}/`);
  await fillCatalog(`http://127.0.0.1:${servicePort}`, ADMIN);

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
        TEST_SERVICE_URL: serviceUrl,
        TEST_STOREFRONT_URL: storefrontUrl,
        TEST_OUTBOX: join(dataDir, 'outbox'),
        TEST_ADMIN: JSON.stringify(ADMIN),
      },
    },
  );
  const [exitCode] = await once(jest, 'close');
  return exitCode ?? 1;
}

/** BROWSER, or a Chromium or Chrome on the path. */
function findBrowser() {
  const { BROWSER, PATH = '' } = process.env;
  if (BROWSER !== undefined && BROWSER !== '') {
    if (existsSync(BROWSER)) return BROWSER;
    console.error(`BROWSER names ${BROWSER}, which is not there`);
    process.exit(1);
  }
  return ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
    .flatMap((name) => PATH.split(delimiter).map((folder) => join(folder, name)))
    .find((path) => existsSync(path));
}

function buildStorefront(serviceUrl) {
  const { status } = spawnSync('npm', ['run', '--silent', 'build', '--', '--logLevel', 'warn'], {
    cwd: STOREFRONT,
    stdio: 'inherit',
    env: { ...process.env, VITE_API_URL: serviceUrl },
  });
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

async function answers(started, url) {
  const deadline = Date.now() + START_DEADLINE_MS;
  for (;;) {
    const isThere = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (isThere) return;
    if (started.child.exitCode !== null || Date.now() > deadline) {
      throw new Error(`${url} does not answer; it printed:\n${started.output}`);
    }
    await delay(50);
  }
}

async function stop({ child }) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const ended = once(child, 'close');
  const deadline = delay(15_000).then(() => child.kill('SIGKILL'));
  await Promise.race([ended, deadline]);
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
