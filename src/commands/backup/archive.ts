import { execFile, type ExecFileException } from 'node:child_process';
import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { access, lstat, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { type Manifest, parseManifest } from './manifest.js';

const FORMAT = 2;
/** Largest compression ratio of gzip. A file beyond this ratio is sparse, and reading a sparse file may take hours. */
const MAX_COMPRESSION = 1_032;
const MANIFEST = 'manifest.json';
/** Paths of the files that a backup contains besides the manifest. The name of an image is its id. */
const PATHS = [
  /^tables\/[\w.]+$/,
  /^images\/(?:[\w-]+\/)*[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.(?:png|jpg)$/,
];

/** Verified backup, unpacked into a folder. */
export interface UnpackedBackup {
  readonly folder: string;
  readonly manifest: Manifest;
  /** Size of the archive in bytes. */
  readonly size: number;
}

/** Packs a folder and its manifest into one tar archive, compressed with gzip. Returns the size of the archive in bytes. */
export async function pack(
  folder: string,
  file: string,
  manifest: Omit<Manifest, 'format' | 'checksums'>,
): Promise<number> {
  const checksums = await computeChecksums(folder, await listFiles(folder));
  const complete: Manifest = { format: FORMAT, ...manifest, checksums };
  await writeFile(join(folder, MANIFEST), `${JSON.stringify(complete, null, 1)}\n`);
  await runTar('-czf', file, ['-C', folder, '.'], 'cannot be written');
  return (await stat(file)).size;
}

/** Unpacks a backup into an empty folder and verifies all its files. */
export async function unpack(file: string, folder: string): Promise<UnpackedBackup> {
  await access(file, constants.R_OK);
  const archive = await stat(file);
  const problem = 'is not a backup, or it was truncated or changed';
  await runTar('-xzf', file, ['--no-same-owner', '--no-same-permissions', '-C', folder], problem);
  const files = await listFiles(folder);
  const unpackedSize = files.reduce((sum, { size }) => sum + size, 0);
  if (unpackedSize > archive.size * MAX_COMPRESSION) throw new Error(`${file} ${problem}`);
  const checksums = await computeChecksums(folder, files);
  const manifest = await readFile(join(folder, MANIFEST), 'utf8')
    .then(parseManifest)
    .catch((error: unknown) => {
      throw new Error(`${file} ${problem}`, { cause: error });
    });
  if (manifest.format !== FORMAT)
    throw new Error(
      `${file} has a format that this build does not read: restore it with the build that made it`,
    );
  const tableFiles = manifest.tables.map(({ name }) => `tables/${name}`);
  for (const path of [...Object.keys(manifest.checksums), ...tableFiles]) {
    if (Object.hasOwn(checksums, path)) continue;
    throw new Error(`${file} is not complete: ${JSON.stringify(path)} is missing`);
  }
  for (const [path, checksum] of Object.entries(checksums)) {
    if (manifest.checksums[path] === checksum) continue;
    throw new Error(`${file} was changed: ${path} has another checksum`);
  }
  return { folder, manifest, size: archive.size };
}

type ListedFile = Awaited<ReturnType<typeof listFiles>>[number];

/**
 * Lists the files below a folder, with their apparent sizes in bytes. Rejects links, devices and names that no backup contains,
 * before any file is read.
 */
async function listFiles(folder: string) {
  // Without file types, Node would follow links to folders.
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const listed = entries
    .filter((entry) => !entry.isDirectory())
    .map(async (entry) => {
      const file = join(entry.parentPath, entry.name);
      const path = relative(folder, file);
      const { nlink, size } = await lstat(file);
      if (
        !entry.isFile() ||
        nlink !== 1 ||
        !(path === MANIFEST || PATHS.some((pattern) => pattern.test(path)))
      )
        throw new Error(`the archive contains ${JSON.stringify(path)}, which is not part of a backup`);
      return { path, size };
    });
  return Promise.all(listed);
}

/** Returns the hexadecimal SHA-256 of each file, except the manifest, by its path. */
async function computeChecksums(folder: string, files: readonly ListedFile[]) {
  const checksums: Record<string, string> = {};
  for (const { path } of files) {
    if (path === MANIFEST) continue;
    const hash = createHash('sha256');
    await pipeline(createReadStream(join(folder, path)), hash);
    checksums[path] = hash.digest('hex');
  }
  return checksums;
}

/**
 * Runs the system's tar, which unpacks no file outside of the folder after `-C`.
 * @param problem end of the error message after the name of the archive, unless the disk is full
 */
async function runTar(
  operation: '-czf' | '-xzf',
  file: string,
  options: readonly string[],
  problem: string,
): Promise<void> {
  // Without `resolve`, tar would treat `host:file` as a file on another machine.
  const args = [operation, resolve(file), ...options];
  // The locale C has English messages. Only src/config reads the environment of this process, so `env` sets the locale.
  const running = promisify(execFile)('env', ['LC_ALL=C', 'tar', ...args]);
  const kill = () => running.child.kill('SIGKILL');
  // Runs before `withTemporaryFolder` removes the folder, in which tar would continue to write.
  process.prependOnceListener('exit', kill);
  try {
    await running;
  } catch (error) {
    // The program env exits with this code if it does not find tar.
    if ((error as ExecFileException).code === 127)
      throw new Error('backup and restore need the program tar, which is not installed', { cause: error });
    const isFull = String(error).includes('No space left');
    throw new Error(`${file} ${isFull ? 'does not fit on the disk' : problem}`, { cause: error });
  } finally {
    process.off('exit', kill);
  }
}
