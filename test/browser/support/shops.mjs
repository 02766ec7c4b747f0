import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../../bench/processes.mjs';

export const ADMIN = { email: 'admin@bakery.example', password: 'the admin password' };

const STOREFRONT = join('examples', 'storefront');
const START_DEADLINE_MS = 240_000;

/** Service URL that is compiled into the build. `startShop` replaces it in a copy, so that one build serves all shops. */
const PLACEHOLDER_URL = 'http://service.invalid';

const children = [];

export function buildStorefront(outDir) {
  const viteOptions = ['--logLevel', 'warn', '--outDir', outDir, '--emptyOutDir'];
  const env = { ...process.env, VITE_API_URL: PLACEHOLDER_URL };
  const options = { cwd: STOREFRONT, stdio: 'inherit', env };
  execFileSync('npm', ['run', '--silent', 'build', '--', ...viteOptions], options);
}

/** Starts a service with a new DATA_DIR, and a web server for a copy of the build in `buildDir`, both on free ports. */
export async function startShop(dataDir, buildDir, settings) {
  const [servicePort, storefrontPort] = [await freePort(), await freePort()];
  const serviceUrl = `http://localhost:${servicePort}`;
  await mkdir(dataDir);
  const serviceArgs = ['--enable-source-maps', 'dist/src/main.js'];
  const serviceStart = startProgram(serviceArgs, '.', `${serviceUrl}/api/health/ready`, {
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
  const dist = await copyStorefront(buildDir, `${dataDir}-storefront`, serviceUrl);
  const storefrontUrl = `http://localhost:${storefrontPort}`;
  const address = ['--host', '127.0.0.1', '--port', String(storefrontPort)];
  const previewArgs = ['node_modules/vite/bin/vite.js', 'preview', '--outDir', dist, ...address];
  await startProgram(previewArgs, STOREFRONT, storefrontUrl, {});
  await serviceStart;
  return { serviceUrl, storefrontUrl, outbox: join(dataDir, 'outbox') };
}

export async function stopShops() {
  await Promise.all(
    children.map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'close');
    }),
  );
}

async function copyStorefront(buildDir, folder, serviceUrl) {
  await cp(buildDir, folder, { recursive: true });
  for (const name of await readdir(folder, { recursive: true })) {
    if (!/\.(js|html)$/.test(name)) continue;
    const path = join(folder, name);
    const script = await readFile(path, 'utf8');
    await writeFile(path, script.replaceAll(PLACEHOLDER_URL, serviceUrl));
  }
  return folder;
}

/** Starts a Node program in the folder `cwd` and waits until `url` responds. */
async function startProgram(args, cwd, url, settings) {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...settings };
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  const deadline = Date.now() + START_DEADLINE_MS;
  for (;;) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) return;
    if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline)
      throw new Error(`${url} does not respond. Output of the program:\n${output}`);
    await delay(50);
  }
}
