import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createDataDir, readIfPresent, writeOnce } from '../../common/files.js';
import { findBinaries } from './binaries.js';
import { createOnce } from './create-once.js';
import { run, type RunAs } from './run.js';

/** Parent folder of clusters whose DATA_DIR the server's user cannot access. Only the user root creates such clusters. */
const SYSTEM_FOLDER = '/var/lib/bakery-catalog';

/** Database cluster and its programs. */
export interface Cluster {
  /** Real path of DATA_DIR. */
  readonly dataDir: string;
  /** PostgreSQL's data directory. */
  readonly folder: string;
  /** User that runs the server; undefined if it is the user of this process. */
  readonly runAs: RunAs | undefined;
  /** Folder of the programs. */
  readonly bin: string;
  /** Password of the role `postgres`. */
  readonly superuserPassword: string;
}

/**
 * Finds or creates the cluster of a DATA_DIR: UTF-8, sorted by code point on every system, with data checksums.
 * If `stopping` is aborted during the creation, the function removes the incomplete cluster and throws.
 */
export async function openCluster(
  dataDir: string,
  log: (message: string) => void,
  stopping?: AbortSignal,
): Promise<Cluster> {
  const location = await locateCluster(dataDir);
  const { folder, runAs } = location;
  const { bin, version } = await findBinaries(folder, runAs);
  const passwordFile = join(location.dataDir, 'postgres-password');
  // Look for the cluster before the password: a concurrent first start writes the password before it creates the cluster.
  const existingMajor = (await readIfPresent(join(folder, 'PG_VERSION')))?.trim();
  const stored =
    existingMajor === undefined
      ? writeOnce(passwordFile, `${randomBytes(24).toString('base64url')}\n`, 0o600)
      : await readIfPresent(passwordFile);
  if (stored === undefined)
    throw new Error(
      `${passwordFile} is missing, and with it the password of the database in ${folder}: restore the file ` +
        'or, to start with an empty database, remove that folder',
    );
  const cluster = { ...location, bin, superuserPassword: stored.trim() };
  if (existingMajor === undefined) {
    const isNew = await createOnce(folder, 'PG_VERSION', (draft) => initialize(draft, cluster, stopping));
    if (isNew) log(`embedded PostgreSQL ${version}: the data is stored in ${folder}`);
  } else if (existingMajor !== version.split('.')[0]) {
    throw new Error(
      `the database in ${folder} was created by PostgreSQL ${existingMajor} and this is PostgreSQL ` +
        `${version}: back it up with the release that created it, and restore the backup into another DATA_DIR`,
    );
  }
  return cluster;
}

/**
 * Creates DATA_DIR if necessary, and locates its cluster, which may not exist yet: `<dataDir>/postgres`. If the user root
 * creates the cluster and the server's user cannot enter DATA_DIR, the cluster is below `/var/lib`, and the file
 * `<dataDir>/postgres-location` contains the path of the cluster.
 */
export async function locateCluster(path: string) {
  createDataDir(path);
  const dataDir = await realpath(path);
  const locationFile = join(dataDir, 'postgres-location');
  let folder = (await readIfPresent(locationFile))?.trim() ?? join(dataDir, 'postgres');
  const runAs = await findServerUser(folder);
  if (runAs && !existsSync(folder) && !(await canEnter(dataDir, runAs))) {
    const name = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
    folder = writeOnce(locationFile, `${join(SYSTEM_FOLDER, name, 'postgres')}\n`, 0o644).trim();
    for (const parent of [SYSTEM_FOLDER, dirname(folder)]) {
      await mkdir(parent, { recursive: true });
      await chmod(parent, 0o755); // The mode of `mkdir` is subject to the umask.
    }
  }
  return { dataDir, folder, runAs };
}

function canEnter(folder: string, user: RunAs): Promise<boolean> {
  return run('/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder], user).then(
    () => true,
    () => false,
  );
}

/**
 * Finds the user that runs the server. Returns undefined unless this process runs as root, because PostgreSQL refuses to run as
 * root. The owner of an existing cluster runs its server. If the cluster is new or root owns the cluster, the first existing
 * user of `postgres`, `_postgres` (macOS) and `nobody` runs the server.
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

async function initialize(
  draft: string,
  { bin, runAs, superuserPassword }: Cluster,
  stopping?: AbortSignal,
): Promise<void> {
  const passwordFile = join(dirname(draft), 'password');
  await writeFile(passwordFile, superuserPassword, { mode: 0o600, flag: 'wx' });
  if (runAs) for (const path of [passwordFile, dirname(draft)]) await chown(path, runAs.uid, runAs.gid);
  const args = [
    '--pgdata',
    draft,
    '--username=postgres',
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--data-checksums',
    '--no-instructions',
  ];
  await run(join(bin, 'initdb'), args, runAs, stopping);
}
