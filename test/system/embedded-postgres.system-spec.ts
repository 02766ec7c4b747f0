import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../src/database/embedded-postgres.js';
import { queryOnce } from '../support/databases.js';
import { findServerPid } from '../support/embedded-database.js';
import { acceptsConnections } from '../support/loopback.js';
import { useFolder } from '../support/process.js';
import { stopAfterUse } from '../support/stop-after-use.js';
import { until } from '../support/wait.js';
import { buildCheckout, FAST_SETTINGS, removeServer, spawnService } from './embedded-postgres.checkout.js';

const isRoot = process.geteuid?.() === 0;
/** Key of the advisory lock that the supervisor of a server has. */
const SUPERVISOR_LOCK = 0x62616b;
const root = await useFolder('embedded-postgres-');

/** Creates an empty folder. By default every user can read it: if root runs the tests, the server runs as another user. */
async function createFolder(mode = 0o755): Promise<string> {
  const folder = await fs.mkdtemp(join(root, 'folder-'));
  await fs.chmod(folder, mode);
  return folder;
}

function start(dataDir: string, log: string[] = [], settings = {}): Promise<EmbeddedPostgres> {
  const serverSettings = { ...FAST_SETTINGS, ...settings };
  const options = { dataDir, serverSettings, log: (message: string) => void log.push(message) };
  return stopAfterUse(startEmbeddedPostgres(options), (postgres) => postgres.stop());
}

async function readServerPid(dataDir: string): Promise<number> {
  const pid = await findServerPid(dataDir);
  if (pid === undefined) throw new Error('no server runs');
  return pid;
}

/** Returns false also for a zombie: a process that has ended, and whose parent has not read the exit code yet. */
async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !(await fs.readFile(`/proc/${pid}/stat`, 'utf8')).includes(') Z ');
  } catch (error) {
    if (['ESRCH', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

let checkout: string;

beforeAll(async () => {
  checkout = await buildCheckout(await createFolder());
});

describe('the embedded PostgreSQL', () => {
  it('keeps its data across starts, and leaves no process after a stop', async () => {
    const dataDir = join(await createFolder(), 'data');
    const log: string[] = [];
    const first = await start(dataDir, log);
    await queryOnce(first.url, 'create table loaf as select 7 as id');
    const pid = await readServerPid(dataDir);
    expect(log).toHaveLength(1);
    expect(log[0]).toContain(join(dataDir, 'postgres'));
    await first.stop();
    // The server removes its pid file just before it ends.
    await until('the server has ended', async () => !(await isRunning(pid)));

    const second = await start(dataDir, log);
    expect(await queryOnce(second.url, 'select id from loaf')).toEqual([{ id: 7 }]);
    expect(log).toHaveLength(1);
  });

  it('does not start without its password file', async () => {
    const dataDir = await createFolder();
    await (await start(dataDir)).stop();
    await fs.rm(join(dataDir, 'postgres-password'));
    await expect(start(dataDir)).rejects.toThrow(
      `${join(dataDir, 'postgres-password')} is missing, and with it the password of the database in ` +
        `${join(dataDir, 'postgres')}: restore the file`,
    );
  });

  it('serves a UTF-8 database, sorted by code point, to an ordinary role', async () => {
    const { url } = await start(await createFolder());
    const [facts] = await queryOnce(
      url,
      `select current_database() as name, pg_encoding_to_char(encoding) as encoding, datlocprovider as provider,
              datlocale as locale, current_setting('data_checksums') as checksums,
              current_setting('max_connections') as connections, rolsuper as superuser,
              array(select v from unnest(array['ä', 'b', 'Z', 'a']) v order by v) as sorted
         from pg_database, pg_roles where datname = current_database() and rolname = current_user`,
    );
    expect(facts).toEqual({
      name: 'bakery',
      encoding: 'UTF8',
      provider: 'b',
      locale: 'C.UTF-8',
      checksums: 'on',
      connections: '200',
      superuser: false,
      sorted: ['Z', 'a', 'b', 'ä'],
    });
  });

  it('listens only on 127.0.0.1, and asks for a password', async () => {
    const { url } = await start(await createFolder());
    const port = Number(new URL(url).port);
    const others = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
    const external = others.filter(({ internal }) => !internal).map(({ address }) => address);
    for (const address of ['::1', ...external]) expect(await acceptsConnections(address, port)).toBe(false);
    expect(await acceptsConnections('127.0.0.1', port)).toBe(true);
    const withWrongPassword = url.replace(/:[^:@/]+@/, ':wrong@');
    await expect(queryOnce(withWrongPassword, 'select 1')).rejects.toThrow('password authentication failed');
  });

  it('does not log its passwords, and only the user of the service can read the password file and the log', async () => {
    const dataDir = await createFolder();
    const { url } = await start(dataDir);
    // The server logs a failed statement, so the log is not empty.
    await expect(queryOnce(url, 'no statement')).rejects.toThrow('syntax error');
    const file = join(dataDir, 'postgres-password');
    expect((await fs.stat(file)).mode & 0o777).toBe(0o600);
    const serverLog = await fs.readFile(join(dataDir, 'postgres.log'), 'utf8');
    expect(serverLog).toContain('syntax error');
    // The password of the superuser and the password of the database's owner.
    for (const secret of [(await fs.readFile(file, 'utf8')).trim(), new URL(url).password]) {
      expect(secret.length).toBeGreaterThanOrEqual(32);
      expect(serverLog).not.toContain(secret);
    }
    expect((await fs.stat(join(dataDir, 'postgres.log'))).mode & 0o077).toBe(0);
  });

  it('starts for one of two concurrent services, and rejects the other one and every later one', async () => {
    const dataDir = await createFolder();
    const outcomes = await Promise.allSettled([start(dataDir), start(dataDir)]);
    const winner = outcomes.find((outcome) => outcome.status === 'fulfilled');
    const rejected = outcomes.find((outcome) => outcome.status === 'rejected');
    expect(rejected?.reason).toEqual(new Error(`DATA_DIR ${dataDir} is in use by a running service`));
    await expect(start(dataDir)).rejects.toThrow('is in use by a running service');
    expect(await queryOnce(winner?.value.url ?? '', 'select 1 as one')).toEqual([{ one: 1 }]);
    // No incomplete cluster remains.
    expect((await fs.readdir(dataDir)).filter((name) => name.includes('tmp-'))).toEqual([]);
  });

  it('takes over the server of a service that was killed', async () => {
    const dataDir = await createFolder();
    const service = await spawnService(checkout, dataDir);
    await queryOnce(await service.waitFor('url'), 'create table loaf as select 7 as id');
    const serverPid = await readServerPid(dataDir);
    await service.kill();
    expect(await isRunning(serverPid)).toBe(true);

    const second = await spawnService(checkout, dataDir);
    const url = await second.waitFor('url');
    expect(await readServerPid(dataDir)).toBe(serverPid);
    expect(await queryOnce(url, 'select id from loaf')).toEqual([{ id: 7 }]);

    await second.stop();
    await until('the server has ended', async () => !(await isRunning(serverPid)));
  });

  it('restarts a killed server on the same port, recovers its data, and continues to exclude other services', async () => {
    const dataDir = await createFolder();
    const log: string[] = [];
    const { url } = await start(dataDir, log);
    await queryOnce(url, 'create table loaf as select 7 as id');
    process.kill(await readServerPid(dataDir), 'SIGKILL');
    // A query fails until the server is back.
    const readLoaf = () => queryOnce(url, 'select id from loaf').catch(() => undefined);
    expect(await until('the server is back', readLoaf)).toEqual([{ id: 7 }]);
    await until('the recovery is logged', () => log.length === 2);
    expect(log[1]).toMatch(/^embedded PostgreSQL was lost and is back \(port \d+, \d+ ms\)$/);
    await expect(start(dataDir)).rejects.toThrow('is in use by a running service');
  });

  it('stops cleanly during the restart of a killed server, even if stop() is called twice', async () => {
    const dataDir = await createFolder();
    const postgres = await start(dataDir);
    const killed = await readServerPid(dataDir);
    process.kill(killed, 'SIGKILL');
    const restarted = await until('another server starts', async () => {
      const pid = await readServerPid(dataDir).catch(() => NaN);
      return pid > 0 && pid !== killed && pid;
    });
    await Promise.all([postgres.stop(), postgres.stop()]);
    await until('the other server has ended', async () => !(await isRunning(restarted)));
    await start(dataDir);
  });

  it('does not give its supervisor lock to a waiting process while the server stops', async () => {
    const dataDir = await createFolder();
    const postgres = await start(dataDir);
    const secret = (await fs.readFile(join(dataDir, 'postgres-password'), 'utf8')).trim();
    const waiting = new pg.Client(
      `postgresql://postgres:${secret}@127.0.0.1:${new URL(postgres.url).port}/postgres`,
    );
    waiting.on('error', () => undefined);
    await waiting.connect();
    const lock = waiting.query('SELECT pg_advisory_lock($1)', [SUPERVISOR_LOCK]).then(
      () => 'locked',
      () => 'rejected',
    );
    const waitingLocks = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    await until('the session waits', async () => (await queryOnce(postgres.url, waitingLocks)).length > 0);
    await postgres.stop();
    expect(await lock).toBe('rejected');
    await waiting.end();
  });

  it('starts although the process id in its pid file belongs to another program', async () => {
    const dataDir = await createFolder();
    const first = await start(dataDir);
    const pidFile = join(dataDir, 'postgres', 'postmaster.pid');
    const contentWhileRunning = await fs.readFile(pidFile, 'utf8');
    await first.stop();
    const { uid, gid } = await fs.stat(join(dataDir, 'postgres'));
    // PostgreSQL mistakes a program for a server only if the program runs as the server's user. If root runs the tests, the
    // server runs as another user.
    const otherProgram = spawn('sleep', ['60'], isRoot ? { uid, gid, cwd: '/' } : {});
    try {
      await once(otherProgram, 'spawn');
      const withOtherPid = contentWhileRunning.replace(/^\d+/, String(otherProgram.pid));
      await fs.writeFile(pidFile, withOtherPid, { mode: 0o600 });
      const second = await start(dataDir);
      expect(await queryOnce(second.url, 'select 1 as one')).toEqual([{ one: 1 }]);
      expect(await readServerPid(dataDir)).not.toBe(otherProgram.pid);
      expect(otherProgram.exitCode).toBeNull();
    } finally {
      otherProgram.kill('SIGKILL');
    }
  });

  it('runs if the folder of the database is a link to a folder on another disk', async () => {
    const dataDir = await createFolder();
    await (await start(dataDir)).stop();
    const elsewhere = join(await createFolder(), 'postgres');
    await fs.rename(join(dataDir, 'postgres'), elsewhere);
    await fs.symlink(elsewhere, join(dataDir, 'postgres'));
    const { url } = await start(dataDir);
    expect(await queryOnce(url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await expect(start(dataDir)).rejects.toThrow('is in use by a running service');
  });

  it('ignores and removes the incomplete cluster of a first start that was killed', async () => {
    const dataDir = await createFolder();
    const incompleteCluster = join(dataDir, 'postgres.tmp-0123456789ab', 'cluster');
    await fs.mkdir(incompleteCluster, { recursive: true });
    await fs.writeFile(join(incompleteCluster, 'PG_VERSION'), '18\n');
    const { url } = await start(dataDir);
    expect(await queryOnce(url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect((await fs.readdir(dataDir)).sort()).toEqual(['postgres', 'postgres-password', 'postgres.log']);
  });

  it('ends the creation of a database when the service is stopped', async () => {
    const dataDir = await createFolder();
    const stopping = new AbortController();
    const starting = startEmbeddedPostgres({ dataDir, log: () => undefined, stopping: stopping.signal });
    const findDrafts = async () =>
      (await fs.readdir(dataDir)).filter((name) => name.startsWith('postgres.tmp-'));
    await until('initdb runs', async () => (await findDrafts()).length > 0);
    stopping.abort(new Error('stopped'));
    await expect(starting).rejects.toThrow('stopped');
    expect(await fs.readdir(dataDir)).toEqual(['postgres-password']);
  });

  it('ends the recovery of a database when the service is stopped', async () => {
    const dataDir = await createFolder();
    await (await start(dataDir)).stop();
    await fs.writeFile(join(dataDir, 'postgres', 'recovery.signal'), '');
    const stopping = new AbortController();
    const starting = startEmbeddedPostgres({
      dataDir,
      log: () => undefined,
      stopping: stopping.signal,
      serverSettings: { ...FAST_SETTINGS, restore_command: 'sleep 3; false' },
    });
    await until('the server recovers', async () => (await findServerPid(dataDir)) !== undefined);
    stopping.abort(new Error('stopped'));
    await expect(starting).rejects.toThrow('stopped');
    expect(await findServerPid(dataDir)).toBeUndefined();
  });

  it('rejects a database of another major version and does not change it', async () => {
    const dataDir = await createFolder();
    await fs.mkdir(join(dataDir, 'postgres'));
    await fs.writeFile(join(dataDir, 'postgres', 'PG_VERSION'), '17\n');
    await fs.writeFile(join(dataDir, 'postgres-password'), 'secret\n', { mode: 0o600 });
    await expect(start(dataDir)).rejects.toThrow(/was created by PostgreSQL 17 and this is PostgreSQL 18/);
    expect(await fs.readdir(join(dataDir, 'postgres'))).toEqual(['PG_VERSION']);
  });

  it('reports the output of a server that does not start', async () => {
    const dataDir = await createFolder();
    await expect(start(dataDir, [], { work_mem: 'plenty' })).rejects.toThrow(
      /does not start:[^]*invalid value for parameter "work_mem": "plenty"/,
    );
  });

  it('fails with a message that asks for DATABASE_URL if npm installed no server for the platform', async () => {
    const bare = await buildCheckout(await createFolder());
    await removeServer(bare);
    const service = await spawnService(bare, await createFolder());
    const error = await service.waitFor('error');
    expect(error).toMatch(/^the embedded PostgreSQL \(.+\) cannot run here: .+\. Set DATABASE_URL/);
  });

  const itAsRoot = isRoot ? it : it.skip;
  /** Runs a program as root, but without the capability to inspect other users' processes, which root lacks in containers. */
  const WITHOUT_PTRACE = ['setpriv', '--bounding-set=-sys_ptrace', '--inh-caps=-sys_ptrace'];
  const NOBODY = 65_534;
  const AS_NOBODY = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];

  itAsRoot(
    'stores its data below /var/lib if only root has access to DATA_DIR, and logs the folder',
    async () => {
      const dataDir = join(await createFolder(0o700), 'data');
      const log: string[] = [];
      const first = await start(dataDir, log);
      const folder = (await fs.readFile(join(dataDir, 'postgres-location'), 'utf8')).trim();
      try {
        expect(folder).toMatch(/^\/var\/lib\/bakery-catalog\/[0-9a-f]{16}\/postgres$/);
        expect(log[0]).toContain(folder);
        expect((await fs.stat(dirname(dataDir))).mode & 0o777).toBe(0o700);
        await queryOnce(first.url, 'create table loaf as select 7 as id');
        await first.stop();
        const second = await start(dataDir);
        expect(await queryOnce(second.url, 'select id from loaf')).toEqual([{ id: 7 }]);
        await second.stop();
      } finally {
        await fs.rm(dirname(folder), { recursive: true, force: true });
      }
    },
  );

  itAsRoot(
    'starts and stops in a container, where root may not read the working directory of the server',
    async () => {
      const service = await spawnService(checkout, await createFolder(), WITHOUT_PTRACE);
      expect(await queryOnce(await service.waitFor('url'), 'select 1 as one')).toEqual([{ one: 1 }]);
      await service.stop();
    },
  );

  itAsRoot('runs from a checkout to which only root has access', async () => {
    const hidden = await buildCheckout(await createFolder(0o700));
    const dataDir = await createFolder();
    const service = await spawnService(hidden, dataDir);
    expect(await queryOnce(await service.waitFor('url'), 'select 1 as one')).toEqual([{ one: 1 }]);
    expect((await fs.stat(dirname(hidden))).mode & 0o777).toBe(0o700);
    await service.stop();
  });

  itAsRoot(
    'runs for an ordinary user from a read-only checkout, and reports a DATA_DIR that is not accessible',
    async () => {
      // Root owns the checkout. The user can only read it.
      const dataDir = await createFolder(0o777);
      const service = await spawnService(checkout, dataDir, AS_NOBODY);
      expect(await queryOnce(await service.waitFor('url'), 'select 1 as one')).toEqual([{ one: 1 }]);
      expect((await fs.stat(join(dataDir, 'postgres'))).uid).toBe(NOBODY);
      await service.stop();
      const folderOfRoot = await createFolder();
      const rejected = await spawnService(checkout, folderOfRoot, AS_NOBODY);
      expect(await rejected.waitFor('error')).toBe(
        `DATA_DIR ${folderOfRoot} is not accessible to this user (EACCES): make this user the owner of the folder and its content, ` +
          'or set DATA_DIR to another folder',
      );
    },
  );
});
