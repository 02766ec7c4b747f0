import pg from 'pg';
import { clusterPasswords, SUPERUSER, type Cluster } from '../cluster.js';
import { readPidFile } from '../postmaster.js';

const CONNECT_TIMEOUT_MS = 10_000;
const DATABASE = 'bakery';

/** What `pg_backup_stop` gives. */
export interface BackupEnd {
  /** Content of `backup_label`. */
  readonly label: string;
  /** Names of the files in `pg_wal` without which the backup cannot be recovered. */
  readonly walFiles: readonly string[];
}

/**
 * PostgreSQL's low-level backup of a running server:
 * https://www.postgresql.org/docs/18/continuous-archiving.html#BACKUP-LOWLEVEL-BASE-BACKUP
 * Between `begin` and `end` the cluster's files may be copied while they change: what changes meanwhile is written
 * ahead whole, and replaying it mends the copies.
 */
export class BaseBackup {
  #start = '';

  private constructor(private readonly session: pg.Client) {}

  /** @throws Error when no server runs on the cluster, or it has tablespaces of its own */
  static async begin(cluster: Cluster): Promise<BaseBackup> {
    const backup = new BaseBackup(await superuserSession(cluster, 'postgres'));
    try {
      await backup.#begin();
      return backup;
    } catch (error) {
      await backup.close();
      throw error;
    }
  }

  async #begin(): Promise<void> {
    const { rows } = await this.session.query("SELECT FROM pg_tablespace WHERE spcname !~ '^pg_'");
    if (rows.length > 0) {
      throw new Error('the database has tablespaces outside its folder, which this command does not copy');
    }
    // Keeps the log that the backup needs from being recycled; goes with this session, however that ends.
    await this.session.query(
      `SELECT pg_create_physical_replication_slot('bakery_backup_' || pg_backend_pid(), true, true)`,
    );
    const begun = await this.session.query<{ start: string }>(
      "SELECT pg_backup_start('bakery backup', fast => true) AS start",
    );
    this.#start = begun.rows[0]?.start ?? '';
  }

  /** Ends what the backup holds at this very moment. */
  async end(): Promise<BackupEnd> {
    const { rows } = await this.session.query<{ lsn: string; labelfile: string }>(
      'SELECT lsn, labelfile FROM pg_backup_stop(wait_for_archive => false)',
    );
    const { lsn = '', labelfile = '' } = rows[0] ?? {};
    const wal = await this.session.query<{ name: string }>(
      `SELECT pg_walfile_name('0/0'::pg_lsn + (number * size + 1)) AS name
       FROM (SELECT setting::numeric AS size FROM pg_settings WHERE name = 'wal_segment_size') AS segment,
         generate_series(div($1::pg_lsn - '0/0', size), div($2::pg_lsn - '0/0' - 1, size)) AS number`,
      [this.#start, lsn],
    );
    return { label: labelfile, walFiles: wal.rows.map(({ name }) => name) };
  }

  /** Lets the server go on without the backup; one that was not ended is abandoned. */
  async close(): Promise<void> {
    await this.session.end();
  }
}

/** A session that may read all of the service's database. */
export function databaseSession(cluster: Cluster): Promise<pg.Client> {
  return superuserSession(cluster, DATABASE);
}

async function superuserSession(cluster: Cluster, database: string): Promise<pg.Client> {
  const claim = await readPidFile(cluster);
  if (claim?.port === undefined) throw new Error(`no database runs in ${cluster.folder}`);
  const client = new pg.Client({
    host: '127.0.0.1',
    port: claim.port,
    user: SUPERUSER,
    password: (await clusterPasswords(cluster)).superuser,
    database,
    ssl: false,
    application_name: 'bakery-backup',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on('error', () => {
    // The statement that runs or comes next reports it; without a listener Node would end the process.
  });
  await client.connect();
  return client;
}

/** Whether a path of a cluster belongs into a backup (same page, "Backing Up the Data Directory"). */
export function belongsInBackup(path: string): boolean {
  const [top, below] = path.split('/');
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (below !== undefined && EMPTIED.has(top ?? '')) return false;
  return !LEFT_OUT.has(path) && !/^(pgsql_tmp|pg_internal\.init)/.test(name);
}

/** Folders of which only the empty folder is wanted; what is needed of `pg_wal` comes at the end. */
const EMPTIED = new Set([
  'pg_dynshmem',
  'pg_notify',
  'pg_replslot',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
  'pg_wal',
]);
const LEFT_OUT = new Set([
  'postmaster.pid',
  'postmaster.opts',
  'backup_label',
  'backup_label.old',
  'tablespace_map',
  'tablespace_map.old',
  // Last of all and in one piece, by itself.
  'global/pg_control',
]);
