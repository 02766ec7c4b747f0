import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createDataDir, readIfPresent, writeOnce } from '../../common/files.js';
import { run, type RunAs } from './run.js';

/** Parent folder of clusters whose DATA_DIR the server's user cannot access. Only the user root creates such clusters. */
const SYSTEM_FOLDER = '/var/lib/bakery-catalog';

/**
 * `realDataDir` is the real path of DATA_DIR, `folder` PostgreSQL's data directory. `runAs` is undefined if the server runs
 * as the user of this process.
 */
export type ClusterLocation = Awaited<ReturnType<typeof locateCluster>>;

/**
 * Creates DATA_DIR if necessary, and locates its cluster, which may not exist yet: `<dataDir>/postgres`. If the user root
 * creates the cluster and the server's user cannot enter DATA_DIR, the cluster is below `/var/lib`, and the file
 * `<dataDir>/postgres-location` contains the path of the cluster.
 */
export async function locateCluster(dataDir: string) {
  createDataDir(dataDir);
  const realDataDir = await realpath(dataDir);
  const locationFile = join(realDataDir, 'postgres-location');
  let folder = (await readIfPresent(locationFile))?.trim() ?? join(realDataDir, 'postgres');
  const runAs = await findServerUser(folder);
  if (runAs && !existsSync(folder)) {
    const enterAsServerUser = run('/bin/sh', ['-c', 'cd -- "$1"', 'sh', realDataDir], runAs);
    await enterAsServerUser.catch(async () => {
      const name = createHash('sha256').update(realDataDir).digest('hex').slice(0, 16);
      folder = writeOnce(locationFile, `${join(SYSTEM_FOLDER, name, 'postgres')}\n`, 0o644).trim();
      for (const parent of [SYSTEM_FOLDER, dirname(folder)]) {
        await mkdir(parent, { recursive: true });
        await chmod(parent, 0o755); // mkdir's mode would be subject to the umask
      }
    });
  }
  return { dataDir, realDataDir, folder, runAs };
}

/**
 * Finds the user that runs the server. Returns undefined unless this process runs as root, which PostgreSQL rejects. The owner
 * of an existing cluster runs its server. For a new cluster, or one that root owns, the first existing user of `postgres`,
 * `_postgres` (macOS) and `nobody` does.
 */
async function findServerUser(folder: string): Promise<RunAs | undefined> {
  if (process.geteuid?.() !== 0) return undefined;
  const owner = await stat(folder).catch(() => undefined);
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const entries = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const wanted of ['postgres', '_postgres', 'nobody']) {
    const [, , uid, gid] = entries.find(([name]) => name === wanted) ?? [];
    if (Number(uid) > 0) return { uid: Number(uid), gid: Number(gid) };
  }
  return { uid: 65_534, gid: 65_534 }; // `nobody` on Linux, even without an entry in /etc/passwd
}
