import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../src/database/embedded-postgres.js';
import { findFreePort, useFolder } from '../process.js';
import { COMMON_SETTINGS } from '../service.js';
import { stopAfterUse } from '../stop-after-use.js';
import { escapePattern } from './pages.js';

type Settings = Readonly<Record<string, string>>;
export type InstallationKind = 'machine' | 'compose';

const SHIMS = resolve('test/support/runbooks/bin');
const FOLDERS = ['opt', 'etc', 'run', 'bin', 'lib/bakery', 'backups', 'compose/data', 'compose/backups'];

/**
 * The two installations of the runbooks, in a temporary folder: one process under systemd with the embedded database, and the
 * containers of Docker Compose. Programs in `bin` stand in for systemd, Docker and nginx.
 */
export class Installations {
  readonly urls: Readonly<Record<InstallationKind, string>>;
  /** Maps each path and address of the runbooks to its counterpart in the temporary folder. */
  readonly #substitutes: Readonly<Record<string, string>>;

  private constructor(
    private readonly root: string,
    private readonly postgres: EmbeddedPostgres,
    ports: Readonly<Record<InstallationKind | 'metrics', number>>,
  ) {
    this.urls = {
      machine: `http://127.0.0.1:${ports.machine}`,
      compose: `http://127.0.0.1:${ports.compose}`,
    };
    this.#substitutes = {
      '/var/backups/bakery': join(root, 'backups'),
      '/var/lib/bakery': join(root, 'lib/bakery'),
      '/etc/bakery.env': join(root, 'etc/bakery.env'),
      '/opt/bakery': join(root, 'opt/bakery'),
      '/backups': join(root, 'compose/backups'),
      '/data': join(root, 'compose/data'),
      'http://localhost:3000': this.urls.machine,
      'http://localhost:9464': `http://127.0.0.1:${ports.metrics}`,
      'https://api.bakery.example': this.urls.compose,
    };
  }

  /** @param settings settings of both installations */
  static async create(settings: Settings): Promise<Installations> {
    const root = await useFolder('bakery-runbooks-');
    const options = { dataDir: join(root, 'postgres'), log: () => undefined };
    const postgres = await stopAfterUse(startEmbeddedPostgres(options), (started) => started.stop());
    const ports = {
      machine: await findFreePort(),
      compose: await findFreePort(),
      metrics: await findFreePort(),
    };
    const commonSettings = { ...COMMON_SETTINGS, ...settings, NODE_ENV: 'test', HOST: '127.0.0.1' };
    for (const folder of FOLDERS) await mkdir(join(root, folder), { recursive: true });
    await writeSettings(join(root, 'etc/bakery.env'), {
      ...commonSettings,
      PORT: String(ports.machine),
      DATA_DIR: join(root, 'lib/bakery/data'),
      BACKUP_DIR: join(root, 'backups'),
      METRICS_PORT: String(ports.metrics),
    });
    await writeSettings(join(root, 'compose/production.env'), {
      ...commonSettings,
      IMAGE: 'bakery-catalog-service:1.3.0',
      PORT: String(ports.compose),
      POSTGRES_PASSWORD: decodeURIComponent(new URL(postgres.url).password),
      DATA_DIR: join(root, 'compose/data'),
      BACKUP_DIR: join(root, 'compose/backups'),
    });
    // The runbook about upgrades changes from the first release to the second.
    for (const version of ['1.3.0', '1.3.1']) await addRelease(root, version);
    await symlink(join(root, 'opt/bakery-1.3.0'), join(root, 'opt/bakery'));
    await linkBuild(join(root, 'compose'), ['dist', 'node_modules']);
    const script = (await readFile('scripts/bakery', 'utf8')).replace('/app/', `${resolve('.')}/`);
    await writeFile(join(root, 'bin/bakery'), script, { mode: 0o755 });
    return stopAfterUse(new Installations(root, postgres, ports), (installations) => installations.#stop());
  }

  /** Runs commands in the folder of an installation, until one fails. Returns the output as the pages would show it. */
  async run(kind: InstallationKind, commands: string): Promise<{ code: number | null; output: string }> {
    const localized = replacePaths(commands, this.#substitutes);
    const shell = spawn('bash', ['-c', `exec 2>&1\nset -e\n${localized}`], {
      cwd: join(this.root, kind === 'compose' ? 'compose' : 'opt/bakery'),
      env: {
        PATH: [SHIMS, join(this.root, 'bin'), process.env.PATH].join(delimiter),
        HOME: process.env.HOME,
        ROOT: this.root,
        RUN: join(this.root, 'run'),
        COMPOSE_URL: this.urls.compose,
        REPOSITORY: resolve('.'),
        PGHOST: '127.0.0.1',
        PGPORT: new URL(this.postgres.url).port,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [output, [code]] = await Promise.all([
      buffer(shell.stdout),
      once(shell, 'exit') as Promise<[number | null]>,
    ]);
    const originals = Object.entries(this.#substitutes).map(([there, here]) => [here, there] as const);
    return { code, output: replacePaths(output.toString(), Object.fromEntries(originals)) };
  }

  async #stop(): Promise<void> {
    await this.run('machine', 'systemctl stop bakery');
    await this.run('compose', 'docker compose stop service');
  }
}

async function writeSettings(file: string, values: Settings): Promise<void> {
  const lines = Object.entries(values).map(
    ([name, value]) => `${name}=${/\s/.test(value) ? `'${value}'` : value}\n`,
  );
  await writeFile(file, lines.join(''));
}

/** Adds the folder of a release: the build without the sources, so that a command builds nothing. */
async function addRelease(root: string, version: string): Promise<void> {
  const folder = join(root, `opt/bakery-${version}`);
  await mkdir(folder);
  await linkBuild(folder, ['dist', 'node_modules', 'package.json']);
  await cp('scripts', join(folder, 'scripts'), { recursive: true });
  await symlink(join(root, 'etc/bakery.env'), join(folder, '.env'));
}

async function linkBuild(folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) await symlink(resolve(name), join(folder, name));
}

/** Replaces each path or address by its substitute, unless the text has a longer path that ends with the path. */
function replacePaths(text: string, substitutes: Readonly<Record<string, string>>): string {
  const longestFirst = Object.keys(substitutes).toSorted((a, b) => b.length - a.length);
  const pattern = new RegExp(`(?<![\\w.])(?:${longestFirst.map(escapePattern).join('|')})\\b`, 'g');
  return text.replaceAll(pattern, (found) => substitutes[found] ?? found);
}
