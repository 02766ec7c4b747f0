import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import express from 'express';

export const ADMIN = { email: 'admin@bakery.example', password: 'the admin password' };

/** Service URL that is compiled into the build. `startShop` replaces it in a copy, so that one build serves all shops. */
const PLACEHOLDER_URL = 'http://service.invalid';

export function buildStorefront(outDir) {
  const viteOptions = ['--logLevel', 'warn', '--outDir', outDir, '--emptyOutDir'];
  const env = { ...process.env, VITE_API_URL: PLACEHOLDER_URL };
  const options = { cwd: join('examples', 'storefront'), stdio: 'inherit', env };
  execFileSync('npm', ['run', '--silent', 'build', '--', ...viteOptions], options);
}

/** Starts a service with a new DATA_DIR, and a web server for a copy of the build in `buildDir`, both on free ports. */
export async function startShop(processes, dataDir, buildDir, settings) {
  await mkdir(dataDir);
  const service = await processes.start(
    'service',
    'dist/src/main.js',
    {
      NODE_ENV: 'development',
      LOG_LEVEL: 'warn',
      HOST: '127.0.0.1',
      DATA_DIR: dataDir,
      ADMIN_EMAIL: ADMIN.email,
      ADMIN_PASSWORD: ADMIN.password,
      ...settings,
    },
    ['--enable-source-maps'],
  );
  const serviceUrl = `http://localhost:${service.port}`;
  const dist = await copyStorefront(buildDir, `${dataDir}-storefront`, serviceUrl);
  return { serviceUrl, storefrontUrl: await serveStorefront(dist), outbox: join(dataDir, 'outbox') };
}

async function copyStorefront(buildDir, folder, serviceUrl) {
  await cp(buildDir, folder, { recursive: true });
  for (const name of await readdir(folder, { recursive: true })) {
    if (!/\.(js|html)$/.test(name)) continue;
    const path = join(folder, name);
    const content = await readFile(path, 'utf8');
    await writeFile(path, content.replaceAll(PLACEHOLDER_URL, serviceUrl));
  }
  return folder;
}

/** Serves the files of a folder, and `index.html` for unknown paths. Returns the URL. */
async function serveStorefront(folder) {
  const app = express();
  app.use(express.static(folder));
  app.use((_, response) => response.sendFile(join(folder, 'index.html')));
  const server = app.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  return `http://localhost:${server.address().port}`;
}
