import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeDataDir, readIfPresent, writeOnce } from '../files.js';
import { run, type RunAs } from './run.js';

/** Where root keeps what the server's user could not reach in DATA_DIR. */
const SYSTEM_FOLDER = '/var/lib/bakery-catalog';

/** Where the database cluster of a DATA_DIR lies, whether it was made or not. */
export interface Location {
  /** DATA_DIR as the operator named it, for messages. */
  readonly dataDir: string;
  /** Its real path: the password and what the server prints are kept there. */
  readonly root: string;
  /** PostgreSQL's data directory; a copy of the binaries lies beside it where one is needed. */
  readonly folder: string;
  /** The user of the server; undefined where this process is not root and runs it as its own. */
  readonly runAs: RunAs | undefined;
}

/**
 * Says where the cluster of a DATA_DIR lies: in `<dataDir>/postgres`, or, if this is root and the server's user cannot
 * get there, below `/var/lib`, which `<dataDir>/postgres-location` then records.
 * @throws Error if DATA_DIR cannot be made
 */
export async function locate(dataDir: string): Promise<Location> {
  makeDataDir(dataDir);
  const root = await realpath(dataDir);
  const record = join(root, 'postgres-location');
  let folder = (await readIfPresent(record))?.trim() ?? join(root, 'postgres');
  const runAs = await serverUser(folder);
  if (runAs && !existsSync(folder)) {
    // The server's user needs the search permission on every folder above it as well.
    const enter = run('/bin/sh', ['-c', 'cd -- "$1"', 'sh', root], runAs);
    await enter.catch(async () => {
      const name = createHash('sha256').update(root).digest('hex').slice(0, 16);
      folder = writeOnce(record, `${join(SYSTEM_FOLDER, name, 'postgres')}\n`, 0o644).trim();
      for (const parent of [SYSTEM_FOLDER, dirname(folder)]) {
        await mkdir(parent, { recursive: true });
        await chmod(parent, 0o755); // independent of the umask
      }
    });
  }
  return { dataDir, root, folder, runAs };
}

/**
 * PostgreSQL refuses to run as root. Root runs it as the owner of the cluster; for a new one as `postgres` where the
 * system has such a user (`_postgres` on macOS), else as `nobody`.
 */
async function serverUser(folder: string): Promise<RunAs | undefined> {
  if (process.geteuid?.() !== 0) return undefined;
  const owner = await stat(folder).catch(() => undefined);
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const entries = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const wanted of ['postgres', '_postgres', 'nobody']) {
    const [, , uid, gid] = entries.find(([name]) => name === wanted) ?? [];
    if (Number(uid) > 0) return { uid: Number(uid), gid: Number(gid) };
  }
  return { uid: 65_534, gid: 65_534 }; // `nobody` on Linux, even if no name is given to it
}
