import { randomBytes } from 'node:crypto';
import { chown, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readIfPresent, writeOnce } from '../files.js';
import { type Binaries, findBinaries } from './binaries.js';
import { locate, type Location } from './location.js';
import { makeOnce } from './make-once.js';
import { run } from './run.js';

/** A database cluster that was made, and what a server on it needs. */
export interface Cluster extends Location, Binaries {
  /** The password of its superuser `postgres`, which DATA_DIR keeps in `postgres-password`. */
  readonly secret: string;
}

/**
 * Finds the cluster of a DATA_DIR, or makes it: UTF-8, sorted by code point on every system, with data checksums.
 * @throws Error where there are no binaries, another major version made it, its secret was lost, or it is another user's
 */
export async function openCluster(dataDir: string, log: (message: string) => void): Promise<Cluster> {
  const location = await locate(dataDir);
  const binaries = await findBinaries(location);
  const { folder } = location;
  const passwordFile = join(location.root, 'postgres-password');
  // In this order: of two first starts, one may see the cluster of the other only with its password.
  const madeBy = (await readIfPresent(join(folder, 'PG_VERSION')))?.trim();
  let secret = (await readIfPresent(passwordFile))?.trim();
  if (madeBy === undefined) {
    secret ??= writeOnce(passwordFile, `${randomBytes(24).toString('base64url')}\n`, 0o600).trim();
    const cluster = { ...location, ...binaries, secret };
    const isNew = await makeOnce(folder, 'PG_VERSION', (draft) => initialize(draft, cluster));
    if (isNew) log(`embedded PostgreSQL ${binaries.version}: the data lies in ${folder}`);
    return cluster;
  }
  if (secret === undefined) {
    throw new Error(
      `${passwordFile} is missing, and with it the password of the database in ${folder}: restore the file ` +
        'or, to begin anew without what is in the database, remove that folder',
    );
  }
  if (madeBy !== binaries.version.split('.')[0]) {
    throw new Error(
      `the database in ${folder} was made by PostgreSQL ${madeBy} and this is PostgreSQL ` +
        `${binaries.version}: back it up with the release that made it, and restore that into another DATA_DIR`,
    );
  }
  return { ...location, ...binaries, secret };
}

async function initialize(draft: string, { bin, runAs, secret }: Cluster): Promise<void> {
  const passwordFile = join(dirname(draft), 'password');
  await writeFile(passwordFile, secret, { mode: 0o600, flag: 'wx' });
  if (runAs) for (const path of [passwordFile, dirname(draft)]) await chown(path, runAs.uid, runAs.gid);
  const args = [
    ...['-D', draft, '--username=postgres', `--pwfile=${passwordFile}`, '--auth=scram-sha-256'],
    ...['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
    ...['--data-checksums', '--no-instructions'],
  ];
  await run(join(bin, 'initdb'), args, runAs);
}
