import pg from 'pg';
import { chmod, lstat, mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { acquire, planServer } from '../acquire.js';
import { type Binaries, findBinaries } from '../binaries.js';
import { type Cluster, clusterPasswords, locateCluster, passwordsOf } from '../cluster.js';
import { errorCode, syncFolder } from '../files.js';
import { readPidFile, stopPostmaster } from '../postmaster.js';
import { isPostmaster } from '../processes.js';
import { close, databaseUrl, openSession } from '../session.js';
import { type Progress, sideBySide } from '../../side-by-side.js';
import { copyFile, Folders, type Ownership } from './copy.js';
import { BackupError, CLUSTER, type Manifest, readManifest, verifyFiles } from './manifest.js';
import { markRestore, unmarkRestore } from './unfinished-restore.js';

const WORKSHOP = '.restore';

export interface RestoreOptions<T> {
  readonly dataDir: string;
  /** The backup. */
  readonly folder: string;
  /** Moves a database that is there aside; otherwise it is an error. */
  readonly replace: boolean;
  readonly knownMigrations: readonly string[];
  /** Looks at the recovered database and mends the restored images before either takes its place. */
  readonly finish: (session: pg.Client, imagesFolder: string) => Promise<T>;
  readonly log: (message: string) => void;
  readonly progress: (what: string) => Progress;
}

export interface Restored<T> {
  readonly manifest: Manifest;
  readonly found: T;
  /** Where the former files are now. */
  readonly movedAside: readonly string[];
}

/**
 * Puts a backup in the place of a DATA_DIR's database and images. All is built and recovered beside its place; only
 * then are the former ones moved aside, which nothing ever deletes, and the new ones renamed.
 * @throws BackupError when the backup is damaged or not for this build; DataDirInUseError while a service uses the
 *   DATA_DIR; Error with what failed. DATA_DIR is then as it was, unless the failure came between the renames: that
 *   keeps services from starting until a restore has succeeded
 */
export async function restoreBackup<T>(options: RestoreOptions<T>): Promise<Restored<T>> {
  const folder = resolve(options.folder);
  const manifest = await readManifest(folder);
  const unknown = manifest.migrations.filter((name) => !options.knownMigrations.includes(name));
  if (unknown.length > 0) {
    throw new BackupError(
      `the backup in ${folder} was made by a newer build: this one does not know ${unknown.join(', ')}`,
    );
  }
  const interrupted = await markRestore(options.dataDir, folder);
  if (interrupted !== undefined) {
    options.log(`a restore that began at ${interrupted} was interrupted; what it left unfinished is removed`);
  }
  const cluster = await locateCluster(options.dataDir);
  const restoring = new Restoring(cluster, folder, manifest, options);
  try {
    return await restoring.run();
  } finally {
    if (!restoring.isHalfSwapped) await unmarkRestore(options.dataDir);
  }
}

class Restoring<T> {
  /** From the first to the last rename. */
  isHalfSwapped = false;
  private readonly dataDir: string;
  private readonly workshop: Cluster;
  private readonly images: string;

  constructor(
    private readonly cluster: Cluster,
    private readonly folder: string,
    private readonly manifest: Manifest,
    private readonly options: RestoreOptions<T>,
  ) {
    this.dataDir = dirname(cluster.logFile);
    this.workshop = { ...cluster, folder: `${cluster.folder}${WORKSHOP}` };
    this.images = join(this.dataDir, `images${WORKSHOP}`);
  }

  async run(): Promise<Restored<T>> {
    const binaries = await findBinaries(this.cluster.runAs, this.cluster.copyFolder);
    this.refuseOtherMajor(binaries);
    await this.refuseOccupied();
    await verifyFiles(this.folder, this.manifest, this.options.progress('files verified'));
    try {
      await this.clearWorkshop();
      await this.copyFiles();
      const found = await this.recover(binaries);
      await this.refuseOccupied();
      const movedAside = await this.swap();
      return { manifest: this.manifest, found, movedAside };
    } finally {
      if (!this.isHalfSwapped) await this.clearWorkshop();
    }
  }

  private refuseOtherMajor(binaries: Binaries): void {
    const { major, version } = this.manifest.postgres;
    if (major === binaries.major) return;
    throw new BackupError(
      `the backup in ${this.folder} is of PostgreSQL ${version} and this build runs ${binaries.version}: restore ` +
        'it with the build that made it, and move it on with pg_dump and pg_restore',
    );
  }

  /** Also stops a server that a crashed service left on a database that is to be replaced. */
  private async refuseOccupied(): Promise<void> {
    const { cluster, options } = this;
    const claim = await readPidFile(cluster);
    if (claim?.pid !== undefined && (await isPostmaster(claim.pid, cluster))) {
      const session = await openSession(claim, await clusterPasswords(cluster), options.dataDir);
      if (session === undefined) {
        throw new Error(`the database in ${cluster.folder} is starting or stopping: try again when it has`);
      }
      try {
        if (options.replace) await stopPostmaster(session.pid, cluster);
      } finally {
        await close(session.client);
      }
    }
    if (!options.replace && (await exists(cluster.folder))) {
      throw new Error(`${cluster.folder} has a database: with --replace it is moved aside`);
    }
  }

  /** Of this run or of one that was interrupted, whose server may still run. It holds nothing but copies. */
  private async clearWorkshop(): Promise<void> {
    const claim = await readPidFile(this.workshop);
    if (claim?.pid !== undefined && (await isPostmaster(claim.pid, this.workshop))) {
      await stopPostmaster(claim.pid, this.workshop);
    }
    for (const path of [this.workshop.folder, this.images]) await rm(path, { recursive: true, force: true });
  }

  private async copyFiles(): Promise<void> {
    const parent = dirname(this.cluster.folder);
    await mkdir(parent, { recursive: true });
    if (parent !== this.dataDir) await chmod(parent, 0o755); // the server's user must get there
    const [closed, open] = [new Folders(0o700), new Folders(0o755)];
    await closed.make(this.workshop.folder);
    for (const path of this.manifest.folders) await closed.make(join(this.workshop.folder, path));
    await open.make(this.images);
    const people = await this.peopleOfDataDir();
    await sideBySide(
      this.manifest.files,
      async ({ path, size, sha256 }) => {
        const ofCluster = path.startsWith(`${CLUSTER}/`);
        if (!ofCluster && !path.startsWith('images/')) return;
        const to = ofCluster
          ? join(this.workshop.folder, path.slice(CLUSTER.length + 1))
          : join(this.images, path.slice('images/'.length));
        await (ofCluster ? closed : open).makeFor(to);
        const ownership: Ownership = ofCluster
          ? { mode: 0o600, owner: this.cluster.runAs }
          : { mode: 0o644, owner: people };
        const copied = await copyFile(join(this.folder, path), to, ownership);
        if (copied?.size !== size || copied.sha256 !== sha256) {
          throw new BackupError(`the backup in ${this.folder} is changing: ${path}`);
        }
      },
      this.options.progress('files copied'),
    );
    await closed.sync();
    await open.sync();
    if (this.cluster.runAs) await closed.give(this.cluster.runAs);
    if (people) await open.give(people);
  }

  /** Whom the images and keys belong to, where this is root. */
  private async peopleOfDataDir(): Promise<Ownership['owner']> {
    if (process.geteuid?.() !== 0) return undefined;
    const { uid, gid } = await stat(this.dataDir);
    return { uid, gid };
  }

  /** Starts the server once, which replays the log, and stops it again. */
  private async recover(binaries: Binaries): Promise<T> {
    const passwords = passwordsOf(await readFile(join(this.folder, 'postgres-password'), 'utf8'));
    const plan = planServer(this.workshop, binaries, passwords, {});
    const { session } = await acquire(plan, new AbortController().signal);
    try {
      const client = new pg.Client({ connectionString: databaseUrl(session.port, passwords) });
      client.on('error', () => {
        // The statement that runs reports it; without a listener Node would end the process.
      });
      await client.connect();
      try {
        return await this.options.finish(client, this.images);
      } finally {
        await client.end();
      }
    } finally {
      await stopPostmaster(session.pid, this.workshop);
      await close(session.client);
    }
  }

  private async swap(): Promise<string[]> {
    const stamp = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
    const aside = (path: string): string => `${path}.before-restore-${stamp}`;
    const keys = this.manifest.files.map(({ path }) => path).filter((path) => !path.includes('/'));
    const people = await this.peopleOfDataDir();
    const movedAside: string[] = [];
    this.isHalfSwapped = true;
    for (const path of [
      this.cluster.folder,
      ...['images', ...keys].map((name) => join(this.dataDir, name)),
    ]) {
      if (!(await exists(path))) continue;
      await rename(path, aside(path));
      movedAside.push(aside(path));
    }
    for (const name of keys) {
      const temporary = join(this.dataDir, `${name}${WORKSHOP}`);
      await rm(temporary, { force: true });
      await copyFile(join(this.folder, name), temporary, { mode: 0o600, owner: people });
      await rename(temporary, join(this.dataDir, name));
    }
    await rename(this.images, join(this.dataDir, 'images'));
    await rename(this.workshop.folder, this.cluster.folder);
    for (const path of new Set([this.dataDir, dirname(this.cluster.folder)])) await syncFolder(path);
    this.isHalfSwapped = false;
    return movedAside;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}
