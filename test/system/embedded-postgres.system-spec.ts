import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../src/database/embedded-postgres.js';
import { queryOnce } from '../support/databases.js';
import { findServerPid } from '../support/embedded-database.js';
import { acceptsConnections } from '../support/loopback.js';
import { useFolder } from '../support/process.js';
import { until } from '../support/wait.js';

const isRoot = process.geteuid?.() === 0;
/** Key of the advisory lock that the supervisor of a server has. */
const SUPERVISOR_LOCK = 0x62616b;
const NOBODY = { uid: 65534, gid: 65534 };
const FAST_SETTINGS = { fsync: 'off', shared_buffers: '16MB' };
const SERVER_PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;

const root = await useFolder('embedded-postgres-');
const running = new Set<EmbeddedPostgres>();
const children: { kill(): Promise<void> }[] = [];

/** Creates an empty folder. By default every user can read it: if root runs the tests, the server runs as another user. */
async function createFolder(mode = 0o755): Promise<string> {
  const folder = await fs.mkdtemp(join(root, 'folder-'));
  await fs.chmod(folder, mode);
  return folder;
}

async function start(dataDir: string, log: string[] = [], settings = {}): Promise<EmbeddedPostgres> {
  const serverSettings = { ...FAST_SETTINGS, ...settings };
  const options = { dataDir, serverSettings, log: (message: string) => void log.push(message) };
  const postgres = await startEmbeddedPostgres(options);
  running.add(postgres);
  return postgres;
}

const query = (url: string, sql: string) => queryOnce<Record<string, unknown>>(url, sql, 10_000);

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

/** Runs a program as root, but without the capability to inspect other users' processes, which root lacks in containers. */
const AS_CONTAINER_ROOT = ['setpriv', '--bounding-set=-sys_ptrace', '--inh-caps=-sys_ptrace'];

/** Runs the service of a checkout in a separate process, which can be killed and can run as another user. */
function spawnService(
  checkoutFolder: string,
  dataDir: string,
  { user = {}, prefix = [] }: { user?: object; prefix?: readonly string[] } = {},
) {
  const service = [join(checkoutFolder, 'service.js'), dataDir, JSON.stringify(FAST_SETTINGS)];
  const [command = '', ...args] = [...prefix, process.execPath, ...service];
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    cwd: '/',
    // Own process group, so that `kill` also ends programs that the service runs, such as initdb. The PostgreSQL server leaves
    // this group and survives.
    detached: true,
    ...user,
  });
  const exited = once(child, 'exit');
  const events: Record<string, string>[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    events.push(JSON.parse(line) as Record<string, string>);
  });
  /** Waits until the process prints `url`, `error` or `stopped`, and returns the value. */
  const waitFor = (key: 'url' | 'error' | 'stopped') =>
    until(`"${key}" from the process`, () => events.find((event) => key in event)?.[key], 40_000);
  const handle = {
    waitFor,
    stop: async () => {
      child.stdin.end();
      await waitFor('stopped');
    },
    /** Kills the process group with SIGKILL. */
    kill: async () => {
      if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), 'SIGKILL');
      await exited;
    },
  };
  children.push(handle);
  return handle;
}

/** Files and folders of the build that starting an embedded PostgreSQL needs. */
const BUILT_FILES = [
  'database/embedded-postgres.js',
  'database/embedded-postgres',
  'common/errors/error-info.js',
  'common/files.js',
];

/**
 * Creates a checkout with a small service that starts an embedded PostgreSQL with the built code, and with packages as
 * `npm ci --ignore-scripts` installs them: without library links and executable bits.
 * @param options `hasServer: false` for a checkout without a server, as after `npm ci --omit=optional`
 */
async function buildCheckout(parent: string, { hasServer = true } = {}): Promise<string> {
  const folder = join(parent, 'checkout');
  await fs.mkdir(folder);
  const built = join(import.meta.dirname, '..', '..', 'dist', 'src');
  for (const name of BUILT_FILES) await fs.cp(join(built, name), join(folder, name), { recursive: true });
  await fs.writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await fs.writeFile(
    join(folder, 'service.js'),
    `import { startEmbeddedPostgres } from './database/embedded-postgres.js';
     const say = (event) => console.log(JSON.stringify(event));
     const [dataDir, settings] = process.argv.slice(2);
     const options = { dataDir, serverSettings: JSON.parse(settings), log: (log) => say({ log }) };
     try {
       const postgres = await startEmbeddedPostgres(options);
       say({ url: postgres.url });
       process.stdin.resume().on('end', async () => { await postgres.stop(); say({ stopped: 'yes' }); });
     } catch (error) {
       say({ error: error.message });
     }`,
  );
  const dependencies = join(import.meta.dirname, '..', '..', 'node_modules');
  const native = join(folder, 'node_modules', SERVER_PACKAGE, 'native');
  await fs.mkdir(join(folder, 'node_modules'));
  await copyPackage('pg', dependencies, join(folder, 'node_modules'));
  if (!hasServer) return folder;
  await fs.cp(join(dependencies, SERVER_PACKAGE), dirname(native), {
    recursive: true,
    filter: async (path) => !(await fs.lstat(path)).isSymbolicLink(),
  });
  for (const program of await fs.readdir(join(native, 'bin')))
    await fs.chmod(join(native, 'bin', program), 0o644);
  return folder;
}

/** Copies a package and its dependencies. Links would fail: another user may have no access to their targets. */
async function copyPackage(name: string, from: string, to: string): Promise<void> {
  await fs.cp(join(from, name), join(to, name), { recursive: true, force: false });
  const manifest = JSON.parse(await fs.readFile(join(from, name, 'package.json'), 'utf8')) as {
    readonly dependencies?: Readonly<Record<string, string>>;
  };
  for (const dependency of Object.keys(manifest.dependencies ?? {})) await copyPackage(dependency, from, to);
}

let checkout: string;

beforeAll(async () => {
  checkout = await buildCheckout(await createFolder());
});

afterEach(async () => {
  for (const child of children.splice(0)) await child.kill();
  await Promise.all([...running].map((postgres) => postgres.stop()));
  running.clear();
});

describe('the embedded PostgreSQL', () => {
  it('keeps its data across starts, and leaves no process after a stop', async () => {
    const dataDir = join(await createFolder(), 'data');
    const log: string[] = [];
    const first = await start(dataDir, log);
    await query(first.url, 'create table loaf as select 7 as id');
    const pid = await readServerPid(dataDir);
    expect(log).toHaveLength(1);
    expect(log[0]).toContain(join(dataDir, 'postgres'));
    await first.stop();
    // The server removes its pid file just before it ends.
    await until('the server has ended', async () => !(await isRunning(pid)));
    expect(await acceptsConnections('127.0.0.1', Number(new URL(first.url).port))).toBe(false);
    expect(await fs.readdir(join(dataDir, 'postgres'))).not.toContain('postmaster.pid');

    const second = await start(dataDir, log);
    expect(await query(second.url, 'select id from loaf')).toEqual([{ id: 7 }]);
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
    const [facts] = await query(
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
    for (const { address } of others.filter(({ internal }) => !internal))
      expect(await acceptsConnections(address, port)).toBe(false);
    expect(await acceptsConnections('127.0.0.1', port)).toBe(true);
    const withWrongPassword = url.replace(/:[^:@/]+@/, ':wrong@');
    await expect(query(withWrongPassword, 'select 1')).rejects.toThrow('password authentication failed');
  });

  it('does not log its passwords, and only the user of the service can read the password file and the log', async () => {
    const dataDir = await createFolder();
    const { url } = await start(dataDir);
    // The server logs a failed statement, so the log is not empty.
    await expect(query(url, 'no statement')).rejects.toThrow('syntax error');
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
    expect(await query(winner?.value.url ?? '', 'select 1 as one')).toEqual([{ one: 1 }]);
    // No incomplete cluster remains.
    expect((await fs.readdir(dataDir)).filter((name) => name.includes('tmp-'))).toEqual([]);
  });

  it('takes over the server of a service that was killed', async () => {
    const dataDir = await createFolder();
    const service = spawnService(checkout, dataDir);
    await query(await service.waitFor('url'), 'create table loaf as select 7 as id');
    const serverPid = await readServerPid(dataDir);
    await service.kill();
    expect(await isRunning(serverPid)).toBe(true);

    const second = spawnService(checkout, dataDir);
    const url = await second.waitFor('url');
    expect(await readServerPid(dataDir)).toBe(serverPid);
    expect(await query(url, 'select id from loaf')).toEqual([{ id: 7 }]);

    await second.stop();
    await until('the server has ended', async () => !(await isRunning(serverPid)));
  });

  it('restarts a killed server on the same port, recovers its data, and continues to exclude other services', async () => {
    const dataDir = await createFolder();
    const log: string[] = [];
    const { url } = await start(dataDir, log);
    await query(url, 'create table loaf as select 7 as id');
    process.kill(await readServerPid(dataDir), 'SIGKILL');
    // A query fails until the server is back.
    const readLoaf = () => query(url, 'select id from loaf').catch(() => undefined);
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
    expect(await acceptsConnections('127.0.0.1', Number(new URL(postgres.url).port))).toBe(false);
    const again = await start(dataDir);
    expect(await query(again.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('gives its supervisor lock to no waiting process while the server stops', async () => {
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
    await until('the session waits', async () => (await query(postgres.url, waitingLocks)).length > 0);
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
      expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }]);
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
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await expect(start(dataDir)).rejects.toThrow('is in use by a running service');
  });

  it('ignores and removes the incomplete cluster of a first start that was killed', async () => {
    const dataDir = await createFolder();
    const incompleteCluster = join(dataDir, 'postgres.tmp-0123456789ab', 'cluster');
    await fs.mkdir(incompleteCluster, { recursive: true });
    await fs.writeFile(join(incompleteCluster, 'PG_VERSION'), '18\n');
    const { url } = await start(dataDir);
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
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
    await expect(starting).rejects.toThrow();
    expect(await fs.readdir(dataDir)).toEqual(['postgres-password']);
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
    const bare = await buildCheckout(await createFolder(), { hasServer: false });
    const error = await spawnService(bare, await createFolder()).waitFor('error');
    expect(error).toMatch(/^the embedded PostgreSQL \(.+\) cannot run here: .+\. Set DATABASE_URL/);
  });

  const itAsRoot = isRoot ? it : it.skip;

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
        await query(first.url, 'create table loaf as select 7 as id');
        await first.stop();
        const second = await start(dataDir);
        expect(await query(second.url, 'select id from loaf')).toEqual([{ id: 7 }]);
        await second.stop();
      } finally {
        await fs.rm(dirname(folder), { recursive: true, force: true });
      }
    },
  );

  itAsRoot(
    'starts and stops in a container, where root may not read the working directory of the server',
    async () => {
      const service = spawnService(checkout, await createFolder(), { prefix: AS_CONTAINER_ROOT });
      expect(await query(await service.waitFor('url'), 'select 1 as one')).toEqual([{ one: 1 }]);
      await service.stop();
    },
  );

  itAsRoot('runs from a checkout to which only root has access', async () => {
    const hidden = await buildCheckout(await createFolder(0o700));
    const dataDir = await createFolder();
    const service = spawnService(hidden, dataDir);
    expect(await query(await service.waitFor('url'), 'select 1 as one')).toEqual([{ one: 1 }]);
    expect((await fs.stat(dirname(hidden))).mode & 0o777).toBe(0o700);
    await service.stop();
  });

  itAsRoot(
    'runs for an ordinary user from a read-only checkout, and reports a DATA_DIR that is in use or not accessible',
    async () => {
      // Root owns the checkout. NOBODY can only read it.
      const dataDir = await createFolder(0o777);
      const service = spawnService(checkout, dataDir, { user: NOBODY });
      expect(await query(await service.waitFor('url'), 'select 1 as one')).toEqual([{ one: 1 }]);
      expect((await fs.stat(join(dataDir, 'postgres'))).uid).toBe(NOBODY.uid);
      const second = spawnService(checkout, dataDir, { user: NOBODY });
      expect(await second.waitFor('error')).toBe(`DATA_DIR ${dataDir} is in use by a running service`);
      const pid = await readServerPid(dataDir);
      await service.stop();
      // The server removes its pid file, for which the stop waits, just before it ends.
      await until('the server has ended', async () => !(await isRunning(pid)));
      const folderOfRoot = await createFolder();
      expect(await spawnService(checkout, folderOfRoot, { user: NOBODY }).waitFor('error')).toBe(
        `DATA_DIR ${folderOfRoot} is not accessible to this user (EACCES): make this user the owner of the folder and its content, ` +
          'or set DATA_DIR to another folder',
      );
    },
  );
});
