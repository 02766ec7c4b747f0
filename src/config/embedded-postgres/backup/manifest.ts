import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfPresent } from '../files.js';
import { type Progress, sideBySide } from '../../side-by-side.js';
import { fingerprintOf, type Fingerprint, write } from './copy.js';

/** Grows when an earlier build could not read what this one writes. */
const FORMAT = 1;
const MANIFEST = 'manifest.json';
/** In the form that `sha256sum --check` reads. */
const CHECKSUM = 'manifest.sha256';
const PRIVATE = { mode: 0o600 };

/** Where in a backup the database cluster lies. */
export const CLUSTER = 'postgres';
/** Without these nothing can be restored. */
const REQUIRED = ['PG_VERSION', 'global/pg_control', 'backup_label']
  .map((path) => `${CLUSTER}/${path}`)
  .concat('postgres-password');
/** A manifest is not trusted with where files go: it might lead out of DATA_DIR. */
const ALLOWED =
  /^(postgres\/[\w.+-]+(\/[\w.+-]+)*|images\/[0-9a-f-]{2}\/[0-9a-f-]{36}\.(png|jpg)|postgres-password|development-secrets\.json)$/;

/** A file of a backup; its path is relative to the backup's folder, with `/`. */
export interface BackupFile extends Fingerprint {
  readonly path: string;
}

/** What a backup says of itself. */
export interface Manifest {
  readonly format: number;
  /** ISO 8601: the end of what it holds. */
  readonly createdAt: string;
  readonly postgres: { readonly version: string; readonly major: string };
  /** Names of the migrations that its database has, in their order. */
  readonly migrations: readonly string[];
  /** Folders of the cluster, of which some are empty, relative to it. */
  readonly folders: readonly string[];
  readonly files: readonly BackupFile[];
}

/** A backup that cannot be used; the message names what is wrong with it. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}

/** Writes the manifest of a backup, the last of its files. */
export async function writeManifest(folder: string, manifest: Omit<Manifest, 'format'>): Promise<void> {
  const bytes = Buffer.from(`${JSON.stringify({ format: FORMAT, ...manifest }, null, 1)}\n`);
  const { sha256 } = await write(join(folder, MANIFEST), [bytes], PRIVATE);
  await write(join(folder, CHECKSUM), [Buffer.from(`${sha256}  ${MANIFEST}\n`)], PRIVATE);
}

/**
 * Reads what a backup says of itself.
 * @throws BackupError where it is no complete backup, was changed, or is of a form that this build does not know
 */
export async function readManifest(folder: string): Promise<Manifest> {
  const path = join(folder, MANIFEST);
  if ((await readIfPresent(path)) === undefined) {
    throw new BackupError(`${folder} is no complete backup: it has no ${MANIFEST}`);
  }
  const bytes = await readFile(path);
  const checksum = (await readIfPresent(join(folder, CHECKSUM)))?.split(' ')[0];
  if (checksum !== createHash('sha256').update(bytes).digest('hex')) {
    throw new BackupError(`the backup in ${folder} is damaged: ${MANIFEST} is not what ${CHECKSUM} says`);
  }
  const manifest = JSON.parse(bytes.toString()) as Manifest; // as written: the checksum says so
  if (manifest.format !== FORMAT) {
    throw new BackupError(
      `the backup in ${folder} has the format ${manifest.format} and this build reads ${FORMAT}: ` +
        'restore it with the build that made it, or a newer one',
    );
  }
  const strange = [...manifest.files.map((file) => file.path), ...manifest.folders.map(inCluster)].find(
    (candidate) => !isAllowed(candidate),
  );
  if (strange !== undefined) {
    throw new BackupError(`the backup in ${folder} names a file that no backup has: ${strange}`);
  }
  for (const needed of REQUIRED) {
    if (!manifest.files.some((file) => file.path === needed)) {
      throw new BackupError(`the backup in ${folder} is damaged: it has no ${needed}`);
    }
  }
  return manifest;
}

function inCluster(path: string): string {
  return `${CLUSTER}/${path}`;
}

function isAllowed(path: string): boolean {
  return ALLOWED.test(path) && !path.split('/').some((name) => name === '.' || name === '..');
}

/** @throws BackupError naming every file that is missing or changed, the first ten of them */
export async function verifyFiles(folder: string, { files }: Manifest, progress?: Progress): Promise<void> {
  const problems: string[] = [];
  await sideBySide(
    files,
    async ({ path, size, sha256 }) => {
      const found = await fingerprintOf(join(folder, path));
      if (found === undefined) problems.push(`${path} is missing`);
      else if (found.size !== size) problems.push(`${path} has ${found.size} bytes instead of ${size}`);
      else if (found.sha256 !== sha256) problems.push(`${path} was changed (checksum)`);
    },
    progress,
  );
  if (problems.length === 0) return;
  const more = problems.length > 10 ? [`and ${problems.length - 10} more`] : [];
  const lines = [...problems.slice(0, 10), ...more].map((line) => `  ${line}`);
  throw new BackupError(`the backup in ${folder} is damaged:\n${lines.join('\n')}`);
}
