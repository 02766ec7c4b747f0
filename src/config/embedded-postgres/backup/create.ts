import type pg from 'pg';
import { lstat, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { findBinaries } from '../binaries.js';
import { type Cluster, locateCluster } from '../cluster.js';
import { errorCode, syncFolder } from '../files.js';
import { BaseBackup, belongsInBackup, databaseSession } from './base-backup.js';
import { type Progress, sideBySide } from '../../side-by-side.js';
import { copyFile, type Fingerprint, Folders, listTree, readSettled, write } from './copy.js';
import { type BackupFile, CLUSTER, writeManifest } from './manifest.js';
import { makePartial, partialOf } from './partial-backup.js';

const PRIVATE = { mode: 0o600 };
/** What else DATA_DIR keeps that the database is of no use without. */
const KEYS = ['postgres-password', 'development-secrets.json'];

/** Files below DATA_DIR that rows of the database say are there. */
export interface NamedFiles {
  /** Their paths relative to DATA_DIR, with `/`. */
  list(session: pg.Client): Promise<string[]>;
  /** Keeps such rows from being added, changed or removed until the transaction ends, which must be soon. */
  lock(session: pg.Client): Promise<void>;
}

export interface BackupOptions {
  /** DATA_DIR, on whose database a server runs. */
  readonly dataDir: string;
  /** The new folder. */
  readonly folder: string;
  readonly named: NamedFiles;
  /** Names of the applied migrations. */
  readonly migrations: (session: pg.Client) => Promise<string[]>;
  readonly progress: (what: string) => Progress;
  /** Told what an interrupted backup left and is removed. */
  readonly log: (line: string) => void;
}

export interface BackupSummary {
  readonly files: number;
  /** Of all files together. */
  readonly bytes: number;
  /** Paths that rows name and that are not there. */
  readonly missing: readonly string[];
}

/**
 * Copies the database, while it is used, and the files that it names. Written beside its place and
 * renamed once it is complete and on the disk, so that what has the name is whole.
 * @throws Error where the folder exists, or with what failed, and nothing is left then
 */
export async function createBackup(options: BackupOptions): Promise<BackupSummary> {
  const folder = resolve(options.folder);
  const partial = partialOf(folder);
  const cluster = await locateCluster(options.dataDir);
  if (`${partial}${sep}`.startsWith(`${cluster.folder}${sep}`)) {
    throw new Error(`${options.folder} lies inside the database that it would hold`);
  }
  await refuseExisting(folder);
  for (const path of await makePartial(folder)) {
    options.log(`removed ${path}, which an interrupted backup left`);
  }
  try {
    const summary = await new Copying(cluster, partial, options).run();
    await refuseExisting(folder);
    await rename(partial, folder);
    await syncFolder(dirname(folder));
    return summary;
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
}

async function refuseExisting(path: string): Promise<void> {
  try {
    await lstat(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  throw new Error(`${path} exists: name a folder that does not exist`);
}

class Copying {
  private readonly files = new Map<string, Fingerprint>();
  private readonly folders = new Folders(0o700);
  private missing: readonly string[] = [];

  constructor(
    private readonly cluster: Cluster,
    private readonly target: string,
    private readonly options: BackupOptions,
  ) {}

  async run(): Promise<BackupSummary> {
    const { version, major } = await findBinaries(this.cluster.runAs, this.cluster.copyFolder);
    const session = await databaseSession(this.cluster);
    try {
      await this.copyNamed(session, 'images');
      const { folders, migrations, createdAt } = await this.copyDatabase(session);
      for (const name of KEYS) await this.copy(join(this.cluster.logFile, '..', name), name);
      await this.folders.sync();
      const files: BackupFile[] = [...this.files].map(([path, known]) => ({ path, ...known }));
      await writeManifest(this.target, {
        createdAt,
        postgres: { version, major },
        migrations,
        folders,
        files,
      });
      await syncFolder(this.target);
      const bytes = files.reduce((sum, { size }) => sum + size, 0);
      return { files: files.length, bytes, missing: this.missing };
    } finally {
      await session.end();
    }
  }

  private async copyDatabase(session: pg.Client) {
    const backup = await BaseBackup.begin(this.cluster);
    try {
      const { files, folders } = await listTree(this.cluster.folder, belongsInBackup);
      for (const path of ['', ...folders]) await this.folders.make(join(this.target, CLUSTER, path));
      await sideBySide(files, (path) => this.copyOfCluster(path), this.options.progress('database files'));
      await this.write(
        `${CLUSTER}/global/pg_control`,
        await readSettled(join(this.cluster.folder, 'global/pg_control')),
      );
      const { end, migrations, createdAt } = await this.endWithFiles(session, backup);
      await sideBySide(end.walFiles, async (name) => {
        if (!(await this.copyOfCluster(`pg_wal/${name}`)))
          throw new Error(`the server has no longer its log ${name}`);
      });
      await this.write(`${CLUSTER}/backup_label`, Buffer.from(end.label));
      return { folders, migrations, createdAt };
    } finally {
      await backup.close();
    }
  }

  /**
   * A named file is written before its row names it, and removed after no row does. So what was copied before is not
   * enough, for more may be named by now, and copying afterwards is too late for what goes meanwhile. Both ends meet
   * under a lock on the rows: what they name when the database's copy ends is copied before anything of it can go.
   */
  private async endWithFiles(session: pg.Client, backup: BaseBackup) {
    await this.copyNamed(session, 'newer images');
    await session.query('BEGIN');
    await this.options.named.lock(session);
    const migrations = await this.options.migrations(session);
    const end = await backup.end();
    const createdAt = new Date().toISOString();
    this.missing = await this.copyNamed(session);
    await session.query('COMMIT');
    return { end, migrations, createdAt };
  }

  /** Copies what is named and was not copied before. @returns what was not there */
  private async copyNamed(session: pg.Client, what?: string): Promise<string[]> {
    const missing: string[] = [];
    const paths = (await this.options.named.list(session)).filter((path) => !this.files.has(path));
    const root = dirname(this.cluster.logFile);
    await sideBySide(
      paths,
      async (path) => {
        if (!(await this.copy(join(root, path), path))) missing.push(path);
      },
      what === undefined ? undefined : this.options.progress(what),
    );
    return missing;
  }

  private async copyOfCluster(path: string): Promise<boolean> {
    return await this.copy(join(this.cluster.folder, path), `${CLUSTER}/${path}`);
  }

  /** @returns false if there is no such file, or no longer */
  private async copy(from: string, path: string): Promise<boolean> {
    const to = join(this.target, path);
    await this.folders.makeFor(to);
    const known = await copyFile(from, to, PRIVATE);
    if (known !== undefined) this.files.set(path, known);
    return known !== undefined;
  }

  private async write(path: string, content: Buffer): Promise<void> {
    this.files.set(path, await write(join(this.target, path), [content], PRIVATE));
  }
}
