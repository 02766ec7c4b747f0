import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { stopAfterUse } from '../support/stop-after-use.js';
import { until } from '../support/wait.js';

/** Settings of the server that make tests fast. */
export const FAST_SETTINGS = { fsync: 'off', shared_buffers: '16MB' };
const SERVER_PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;
/** Files and folders of the build that starting an embedded PostgreSQL needs. */
const BUILT_FILES = [
  'database/embedded-postgres.js',
  'database/embedded-postgres',
  'common/errors/error-info.js',
  'common/files.js',
];

/**
 * Creates a checkout with a small service that starts an embedded PostgreSQL with the built code, and with packages as
 * `npm ci --ignore-scripts` installs them: without library links and executable bits. Returns its folder.
 */
export async function buildCheckout(parent: string): Promise<string> {
  const folder = join(parent, 'checkout');
  const packages = join(folder, 'node_modules');
  await fs.mkdir(packages, { recursive: true });
  for (const name of BUILT_FILES)
    await fs.cp(join('dist/src', name), join(folder, name), { recursive: true });
  await fs.writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await fs.writeFile(
    join(folder, 'service.js'),
    `import { startEmbeddedPostgres } from './database/embedded-postgres.js';
     const say = (event) => console.log(JSON.stringify(event));
     const [dataDir, settings] = process.argv.slice(2);
     const options = { dataDir, serverSettings: JSON.parse(settings), log: (log) => say({ log }) };
     try {
       const postgres = await startEmbeddedPostgres(options);
       say({ url: postgres.url });
       process.stdin.resume().on('end', async () => { await postgres.stop(); say({ stopped: 'yes' }); });
     } catch (error) {
       say({ error: error.message });
     }`,
  );
  await copyPackage('pg', packages);
  await fs.cp(join('node_modules', SERVER_PACKAGE), join(packages, SERVER_PACKAGE), {
    recursive: true,
    filter: async (path) => !(await fs.lstat(path)).isSymbolicLink(),
  });
  const programs = join(packages, SERVER_PACKAGE, 'native/bin');
  for (const program of await fs.readdir(programs)) await fs.chmod(join(programs, program), 0o644);
  return folder;
}

/** Removes the server from a checkout, so that its packages are those of `npm ci --omit=optional`. */
export async function removeServer(checkout: string): Promise<void> {
  await fs.rm(join(checkout, 'node_modules', dirname(SERVER_PACKAGE)), { recursive: true });
}

/** Copies a package and its dependencies. Links would fail: another user may have no access to their targets. */
async function copyPackage(name: string, to: string): Promise<void> {
  const source = resolve('node_modules', name);
  await fs.cp(source, join(to, name), { recursive: true, force: false });
  const manifest = JSON.parse(await fs.readFile(join(source, 'package.json'), 'utf8')) as {
    readonly dependencies?: Readonly<Record<string, string>>;
  };
  for (const dependency of Object.keys(manifest.dependencies ?? {})) await copyPackage(dependency, to);
}

/**
 * Runs the service of a checkout in a separate process, which can run as another user and is killed after its use.
 * @param prefix program and arguments that run the command line after them, such as `setpriv`
 */
export function spawnService(checkout: string, dataDir: string, prefix: readonly string[] = []) {
  const program = [join(checkout, 'service.js'), dataDir, JSON.stringify(FAST_SETTINGS)];
  const [command = '', ...args] = [...prefix, process.execPath, ...program];
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    cwd: '/',
    // Own process group, so that `kill` also ends programs that the service runs, such as initdb. The PostgreSQL server leaves
    // this group and survives.
    detached: true,
  });
  const exited = once(child, 'exit');
  const events: Record<string, string>[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    events.push(JSON.parse(line) as Record<string, string>);
  });
  /** Waits until the process prints `url`, `error` or `stopped`, and returns the value. */
  const waitFor = (key: 'url' | 'error' | 'stopped') =>
    until(`"${key}" from the process`, () => events.find((event) => key in event)?.[key], 40_000);
  /** Kills the process group with SIGKILL. */
  const kill = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), 'SIGKILL');
    await exited;
  };
  const service = {
    waitFor,
    stop: async () => {
      child.stdin.end();
      await waitFor('stopped');
    },
    kill,
  };
  return stopAfterUse(service, kill);
}
