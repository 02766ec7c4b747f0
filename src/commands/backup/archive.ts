import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { errorCode } from '../../config/files.js';
import type { Table } from './tables.js';

/** Grows when an earlier build could not read what this one writes. */
const FORMAT = 2;
const MANIFEST = 'manifest.json';
/** The path of a local image's file; it holds the image's id. */
export const IMAGE_FILE = /([0-9a-f-]{36})\.(?:png|jpg)$/;

/** What a backup says of itself. */
export interface Manifest {
  readonly format: number;
  /** ISO 8601: the moment whose data it holds. */
  readonly createdAt: string;
  /** Names of the migrations that its database has, in their order. */
  readonly migrations: readonly string[];
  readonly tables: readonly Table[];
  /** Sequences by name, and the last number that each has given. */
  readonly sequences: Readonly<Record<string, string>>;
  /** SHA-256 of every other file of the backup, in hexadecimal, by its path. */
  readonly checksums: Readonly<Record<string, string>>;
}

/** Makes the one FILE of a folder: a tar archive, compressed by gzip, the manifest included. */
export async function pack(
  folder: string,
  file: string,
  manifest: Omit<Manifest, 'format' | 'checksums'>,
): Promise<void> {
  const complete: Manifest = { format: FORMAT, ...manifest, checksums: await checksumsOf(folder) };
  await writeFile(join(folder, MANIFEST), `${JSON.stringify(complete, null, 1)}\n`);
  await tar(`${file} cannot be written`, '-czf', file, '-C', folder, '.');
}

/**
 * Unpacks a backup into an empty folder and checks every file of it.
 * @throws Error that says what is wrong when it is cut, changed, or of a form that this build does not know
 */
export async function unpack(file: string, folder: string): Promise<Manifest> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) throw new Error(`${file} does not exist`);
  if (!found.isFile()) throw new Error(`${file} is no file: version 1.0 made folders, and restores them`);
  const problem = `${file} is no backup, or it was cut or changed`;
  await tar(problem, '-xzf', file, '-C', folder);
  const manifest = await readManifest(folder).catch((error: unknown) => {
    throw new Error(problem, { cause: error });
  });
  if (manifest.format !== FORMAT) {
    throw new Error(
      `${file} is of a form that this build does not read: restore it with the build that made it`,
    );
  }
  const checksums = await checksumsOf(folder);
  for (const path of new Set([...Object.keys(manifest.checksums), ...Object.keys(checksums)])) {
    if (checksums[path] !== manifest.checksums[path])
      throw new Error(`${file} was changed: see ${path} in it`);
  }
  return manifest;
}

async function readManifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, MANIFEST), 'utf8')) as Manifest;
}

async function checksumsOf(folder: string): Promise<Record<string, string>> {
  const checksums: Record<string, string> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(folder.length + 1);
    if (entry.isDirectory() || path === MANIFEST) continue;
    if (!entry.isFile()) throw new Error(`a backup has only files: ${path} is none`);
    const hash = createHash('sha256');
    await pipeline(createReadStream(join(folder, path)), hash);
    checksums[path] = hash.digest('hex');
  }
  return checksums;
}

/**
 * The system's own program. It refuses paths that lead out of the folder.
 * @throws Error with the problem, and what tar says of it
 */
async function tar(problem: string, ...args: string[]): Promise<void> {
  try {
    await promisify(execFile)('tar', args);
  } catch (error) {
    const isMissing = errorCode(error) === 'ENOENT';
    const message = isMissing
      ? 'backup and restore need the program tar, which is not installed here'
      : `${problem}: ${String(error)}`;
    throw new Error(message, { cause: error });
  }
}
