import { randomBytes } from 'node:crypto';
import { chown, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readIfPresent, writeOnce } from '../../common/files.js';
import { findBinaries } from './binaries.js';
import { locateCluster, type ClusterLocation } from './location.js';
import { createOnce } from './create-once.js';
import { run } from './run.js';

/** Database cluster and its programs. `secret` is the password of the superuser `postgres`. */
export type Cluster = ClusterLocation &
  Awaited<ReturnType<typeof findBinaries>> & { readonly secret: string };

/** Finds or creates the cluster of a DATA_DIR: UTF-8, sorted by code point on every system, with data checksums. */
export async function openCluster(dataDir: string, log: (message: string) => void): Promise<Cluster> {
  const location = await locateCluster(dataDir);
  const binaries = await findBinaries(location);
  const { folder } = location;
  const passwordFile = join(location.realDataDir, 'postgres-password');
  // Look for the cluster before the password: a concurrent first start writes the password before it creates the cluster.
  const createdBy = (await readIfPresent(join(folder, 'PG_VERSION')))?.trim();
  let secret = (await readIfPresent(passwordFile))?.trim();
  if (createdBy === undefined)
    secret ??= writeOnce(passwordFile, `${randomBytes(24).toString('base64url')}\n`, 0o600).trim();
  if (secret === undefined)
    throw new Error(
      `${passwordFile} is missing, and with it the password of the database in ${folder}: restore the file ` +
        'or, to start with an empty database, remove that folder',
    );
  const cluster = { ...location, ...binaries, secret };
  if (createdBy === undefined) {
    const isNew = await createOnce(folder, 'PG_VERSION', (draft) => initialize(draft, cluster));
    if (isNew) log(`embedded PostgreSQL ${binaries.version}: the data is stored in ${folder}`);
  } else if (createdBy !== binaries.version.split('.')[0]) {
    throw new Error(
      `the database in ${folder} was created by PostgreSQL ${createdBy} and this is PostgreSQL ` +
        `${binaries.version}: back it up with the release that created it, and restore the backup into another DATA_DIR`,
    );
  }
  return cluster;
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
