import { createHash, createHmac, randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, readdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Binaries } from './binaries.js';
import { errorCode, readIfPresent, temporarySibling, writeOnce } from './files.js';
import { canEnter, run, unprivilegedUser, type RunAs } from './run-as.js';

/** Where root keeps what the server's user could not reach in place. */
const SYSTEM_FOLDER = '/var/lib/bakery-catalog';
export const SUPERUSER = 'postgres';

/** What is known of a database cluster before a server runs on it. */
export interface Cluster {
  /** As the operator named it, for messages. */
  readonly dataDir: string;
  /** PostgreSQL's data directory: real path, `PG_VERSION` and the rest right inside. */
  readonly folder: string;
  /** What the server prints: kept in DATA_DIR. */
  readonly logFile: string;
  /** Makes and names the folder that binaries are copied to if they do not work in place. */
  readonly copyFolder: () => Promise<string>;
  readonly runAs: RunAs | undefined;
}

/** The passwords of one cluster, both made of the secret that DATA_DIR keeps. */
export interface Passwords {
  readonly superuser: string;
  readonly owner: string;
}

/**
 * Says where the cluster of a DATA_DIR lies: in `<dataDir>/postgres`, or, if this is root and the server's user cannot
 * get there, below `/var/lib`, which `<dataDir>/postgres-location` then records.
 * @throws Error if DATA_DIR cannot be made
 */
export async function locateCluster(dataDir: string): Promise<Cluster> {
  await mkdir(dataDir, { recursive: true }).catch((error: unknown) => {
    throw new Error(`DATA_DIR ${dataDir} cannot be made (${errorCode(error) ?? String(error)})`, {
      cause: error,
    });
  });
  const root = await realpath(dataDir);
  const recorded = join(root, 'postgres-location');
  const own = join(root, 'postgres');
  const user = await unprivilegedUser();
  const isReachable =
    user === undefined || (await ownerOf(own)) !== undefined || (await canEnter(root, user));
  const folder =
    (await readIfPresent(recorded))?.trim() ?? (isReachable ? own : await recordLocation(root, recorded));
  return {
    dataDir,
    folder,
    logFile: join(root, 'postgres.log'),
    copyFolder: user ? systemFolder : () => Promise.resolve(root),
    // A cluster made by an ordinary user stays that user's: PostgreSQL runs as no other user on it.
    runAs: user && ((await ownerOf(folder)) ?? user),
  };
}

async function recordLocation(root: string, file: string): Promise<string> {
  const name = createHash('sha256').update(root).digest('hex').slice(0, 16);
  return writeOnce(file, `${join(await systemFolder(), name, 'postgres')}\n`, 0o644).trim();
}

async function systemFolder(): Promise<string> {
  await mkdir(SYSTEM_FOLDER, { recursive: true });
  await chmod(SYSTEM_FOLDER, 0o755); // independent of the umask
  return SYSTEM_FOLDER;
}

/** The owner of a path that exists and is not root's. */
async function ownerOf(path: string): Promise<RunAs | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found === undefined || found.uid === 0 ? undefined : { uid: found.uid, gid: found.gid };
}

/**
 * Makes the cluster unless it exists: UTF-8, sorted by code point on every system, with data checksums. It is made
 * beside its place and renamed, so that neither a crash nor two first starts leave half of one.
 * @param password of the superuser
 * @param sync false for throw-away data only
 * @returns whether this call made it
 * @throws Error where it was made by another major version or cannot be read
 */
export async function ensureCluster(
  cluster: Cluster,
  binaries: Binaries,
  password: string,
  sync: boolean,
): Promise<boolean> {
  const existing = await clusterVersion(cluster);
  if (existing === undefined) return await initialize(cluster, binaries, password, sync);
  if (existing === binaries.major) return false;
  throw new Error(
    `the database in ${cluster.folder} was made by PostgreSQL ${existing} and this is PostgreSQL ` +
      `${binaries.version}: back it up with the release that made it, and restore that into another DATA_DIR`,
  );
}

async function clusterVersion(cluster: Cluster): Promise<string | undefined> {
  return (await readOwn(cluster, join(cluster.folder, 'PG_VERSION')))?.trim();
}

async function readOwn({ dataDir }: Cluster, file: string): Promise<string | undefined> {
  try {
    return await readIfPresent(file);
  } catch (error) {
    if (errorCode(error) !== 'EACCES') throw error;
    throw new Error(
      `the database of DATA_DIR ${dataDir} belongs to another user (${file} cannot be read): ` +
        'start the service as that user or as root',
      { cause: error },
    );
  }
}

async function initialize(
  cluster: Cluster,
  binaries: Binaries,
  password: string,
  sync: boolean,
): Promise<boolean> {
  const { folder, runAs } = cluster;
  const parent = dirname(folder);
  await mkdir(parent, { recursive: true });
  if (parent !== dirname(cluster.logFile)) await chmod(parent, 0o755); // ours, below the system folder
  const workshop = temporarySibling(folder);
  const [made, passwordFile] = [join(workshop, 'cluster'), join(workshop, 'password')];
  const args = [
    ...['-D', made, `--username=${SUPERUSER}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256'],
    ...['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
    ...['--data-checksums', '--no-instructions', ...(sync ? [] : ['--no-sync'])],
  ];
  try {
    await mkdir(workshop, { mode: 0o700 });
    await writeFile(passwordFile, password, { mode: 0o600, flag: 'wx' });
    if (runAs) for (const path of [passwordFile, workshop]) await chown(path, runAs.uid, runAs.gid);
    await run(binaries.initdb, args, runAs);
    await rename(made, folder);
    return true;
  } catch (error) {
    if ((await clusterVersion(cluster)) !== undefined) return false; // another first start was quicker
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`the embedded PostgreSQL could not make its database in ${folder}: ${reason}`, {
      cause: error,
    });
  } finally {
    await rm(workshop, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Removes what first starts that were killed left beside the cluster. Only its supervisor may call it. */
export async function removeUnfinished({ folder }: Cluster): Promise<void> {
  for (const name of await readdir(dirname(folder))) {
    if (name.startsWith('postgres.tmp-')) {
      await rm(join(dirname(folder), name), { recursive: true, force: true, maxRetries: 3 });
    }
  }
}

/**
 * Gives the cluster's passwords, of a secret that is made at the first start and kept in
 * `<dataDir>/postgres-password`, mode 0600.
 * @throws Error where the file was lost and the cluster was not
 */
export async function clusterPasswords(cluster: Cluster): Promise<Passwords> {
  const file = join(dirname(cluster.logFile), 'postgres-password');
  // In this order: of two first starts, one may see the cluster of the other only with its password.
  const isMade = (await clusterVersion(cluster)) !== undefined;
  let secret = await readOwn(cluster, file);
  if (secret === undefined && isMade) {
    throw new Error(
      `${file} is missing, and with it the password of the database in ${cluster.folder}: restore the file ` +
        'or, to begin anew without what is in the database, remove that folder',
    );
  }
  secret ??= writeOnce(file, `${randomBytes(24).toString('base64url')}\n`, 0o600);
  const superuser = secret.trim();
  return { superuser, owner: createHmac('sha256', superuser).update('bakery').digest('base64url') };
}
