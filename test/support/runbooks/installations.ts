import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { startExternalPostgres } from '../external-postgres.js';
import { createWorldReadableFolder, freePort, removeFolder } from '../process.js';
import { COMMON_SETTINGS } from '../service.js';

type Settings = Readonly<Record<string, string>>;

const SHIMS = resolve('test/support/runbooks/bin');
const VERSIONS = ['1.3.0', '1.3.1'];

/**
 * The two installations of the runbooks, in a temporary folder: one process under systemd with the embedded database, and the
 * containers of Docker Compose. Programs in `bin` stand in for systemd and Docker.
 * @param settings settings of both
 */
export async function createInstallations(settings: Settings) {
  const root = await createWorldReadableFolder('bakery-runbooks-');
  const postgres = await startExternalPostgres();
  const { port: postgresPort, password } = new URL(postgres.url);
  const ports = { machine: await freePort(), compose: await freePort(), metrics: await freePort() };
  const all = { ...COMMON_SETTINGS, ...settings, NODE_ENV: 'test', HOST: '127.0.0.1' };

  for (const folder of [
    'opt',
    'etc',
    'run',
    'bin',
    'lib/bakery',
    'backups',
    'compose/data',
    'compose/backups',
  ])
    await mkdir(join(root, folder), { recursive: true });
  await writeSettings('etc/bakery.env', {
    ...all,
    PORT: String(ports.machine),
    DATA_DIR: join(root, 'lib/bakery/data'),
    BACKUP_DIR: join(root, 'backups'),
    METRICS_PORT: String(ports.metrics),
  });
  await writeSettings('compose/production.env', {
    ...all,
    PORT: String(ports.compose),
    POSTGRES_PASSWORD: decodeURIComponent(password),
    DATA_DIR: join(root, 'compose/data'),
    BACKUP_DIR: join(root, 'compose/backups'),
  });
  for (const version of VERSIONS) await install(join(root, `opt/bakery-${version}`));
  await symlink(join(root, 'opt/bakery-1.3.0'), join(root, 'opt/bakery'));
  for (const name of ['dist', 'node_modules']) await symlink(resolve(name), join(root, 'compose', name));
  const script = (await readFile('scripts/bakery', 'utf8')).replace('/app/', `${resolve('.')}/`);
  await writeFile(join(root, 'bin/bakery'), script);
  await chmod(join(root, 'bin/bakery'), 0o755);

  /** Paths and addresses in the pages, and what they are here. A path must not be the end of a longer one. */
  const substitutes = [
    ['/var/backups/bakery', join(root, 'backups')],
    ['/var/lib/bakery', join(root, 'lib/bakery')],
    ['/etc/bakery.env', join(root, 'etc/bakery.env')],
    ['/opt/bakery', join(root, 'opt/bakery')],
    ['/backups', join(root, 'compose/backups')],
    ['/data', join(root, 'compose/data')],
    ['http://localhost:3000', `http://127.0.0.1:${ports.machine}`],
    ['http://localhost:9464', `http://127.0.0.1:${ports.metrics}`],
    ['https://api.bakery.example', `http://127.0.0.1:${ports.compose}`],
  ] as const;

  async function writeSettings(file: string, values: Settings): Promise<void> {
    const lines = Object.entries(values).map(([name, value]) => `${name}='${value}'\n`);
    await writeFile(join(root, file), lines.join('').replaceAll(/^(\w+)='(\S*)'$/gm, '$1=$2'));
  }

  /** Installs the build like a release: without the sources, so that a command builds nothing. */
  async function install(folder: string): Promise<void> {
    await mkdir(folder);
    for (const name of ['dist', 'node_modules', 'package.json'])
      await symlink(resolve(name), join(folder, name));
    await cp('scripts', join(folder, 'scripts'), { recursive: true });
    await symlink(join(root, 'etc/bakery.env'), join(folder, '.env'));
  }

  function localize(text: string): string {
    return substitutes.reduce(
      (result, [there, here]) =>
        result.replaceAll(new RegExp(`(?<![\\w.])${there}(?![\\w.]*\\w:)\\b`, 'g'), here),
      text,
    );
  }

  /** Runs commands in the folder of their installation, until one fails. Returns the output as the pages would show it. */
  async function run(commands: string) {
    const folder = commands.includes('docker ') ? 'compose' : 'opt/bakery';
    const shell = spawn('bash', ['-c', `exec 2>&1\nset -e\n${localize(commands)}`], {
      cwd: join(root, folder),
      env: {
        PATH: [SHIMS, join(root, 'bin'), process.env.PATH].join(delimiter),
        HOME: process.env.HOME,
        ROOT: root,
        RUN: join(root, 'run'),
        REPOSITORY: resolve('.'),
        PGHOST: '127.0.0.1',
        PGPORT: postgresPort,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [output, [code]] = await Promise.all([
      buffer(shell.stdout),
      once(shell, 'exit') as Promise<[number | null]>,
    ]);
    const text = substitutes.reduce(
      (result, [there, here]) => result.replaceAll(here, there),
      output.toString(),
    );
    return { code, output: text };
  }

  return {
    run,
    postgresUrl: postgres.url,
    urls: { machine: `http://127.0.0.1:${ports.machine}`, compose: `http://127.0.0.1:${ports.compose}` },
    close: async () => {
      await run('systemctl stop bakery');
      await run('docker compose stop service');
      await postgres.close();
      await removeFolder(root);
    },
  };
}
