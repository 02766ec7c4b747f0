import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '../support/client.js';
import { createDatabase, type TestDatabase } from '../support/databases.js';
import { noisyPng, padded, png } from '../support/pictures.js';
import { type BuiltProcess, freePort, spawnBuilt, untilListening } from '../support/process.js';
import { CAKE, createProduct, ledger, productCount } from '../support/products.js';
import { ADMIN } from '../support/service.js';
import { BOUNDARY, formPieces, upload, type Upload } from '../support/upload-load.js';
import { until } from '../support/wait.js';
import { isLongForm, record } from './support/figures.js';

const MIB = 1024 * 1024;
const MAX_RESIDENT_MIB = 400;
const CONCURRENT = isLongForm ? 100 : 40;
/** Loads that the short form leaves out. */
const longIt = isLongForm ? it : it.skip;
const FORM = `multipart/form-data; boundary=${BOUNDARY}`;

const FILE = noisyPng(5 * MIB);
const FIVE = [FILE, FILE, FILE, FILE, FILE];

describe('resident memory of the service stays under 400 MB while forms of 25 MB are sent', () => {
  let database: TestDatabase;
  let dataDir: string;
  let service: BuiltProcess;
  let url: string;
  let admin: Client;

  beforeAll(async () => {
    database = await createDatabase();
    dataDir = await mkdtemp(join(tmpdir(), 'bakery-uploads-'));
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    service = spawnBuilt('src/main.js', {
      PORT: String(port),
      HOST: '127.0.0.1',
      DATA_DIR: dataDir,
      DATABASE_URL: database.url,
      LOG_LEVEL: 'error',
      ADMIN_EMAIL: ADMIN.email,
      ADMIN_PASSWORD: ADMIN.password,
    });
    await untilListening(service, url);
    admin = new Client(url);
    await admin.post('/api/login').send(ADMIN).expect(200);
  });

  afterAll(async () => {
    service.child.kill('SIGTERM');
    await service.exited;
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  });

  /** Everything goes, so that the next load finds the disk empty. */
  afterEach(async () => {
    const { rows } = await database.pool.query<{ id: number }>('SELECT id FROM products');
    for (const { id } of rows) await admin.delete(`/api/products/${id}`).expect(204);
    await until(
      'no image is left',
      async () => {
        await database.pool.query("UPDATE images SET staged_at = staged_at - interval '120 s'");
        await database.pool.query('UPDATE graphile_worker._private_jobs SET run_at = now()');
        return (await ledger(database)).length === 0;
      },
      60_000,
    );
    expect(await filesUnder(join(dataDir, 'images'))).toEqual([]);
  });

  async function residentMib(): Promise<number> {
    const status = await readFile(`/proc/${service.child.pid ?? 0}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
  }

  /** Runs a load and returns its answers, while the process is watched. */
  async function watched(uploads: readonly Omit<Upload, 'url' | 'cookie'>[]) {
    const done = new AbortController();
    let mostMib = 0;
    const watching = (async () => {
      while (!done.signal.aborted) {
        mostMib = Math.max(mostMib, await residentMib());
        await delay(50);
      }
    })();
    const cookie = `accessToken=${admin.cookie('accessToken')}`;
    const answers = await Promise.all(uploads.map((what) => upload({ ...what, url, cookie })));
    done.abort();
    await watching;
    record('uploads', { 'requests sent': uploads.length, 'resident memory, most MiB': mostMib });
    expect(mostMib).toBeLessThan(MAX_RESIDENT_MIB);
    return answers.map((answer) => answer?.status ?? null);
  }

  function many(what: Omit<Upload, 'url' | 'cookie'>): Omit<Upload, 'url' | 'cookie'>[] {
    return Array.from({ length: CONCURRENT }, () => what);
  }

  function all(status: number): number[] {
    return Array.from({ length: CONCURRENT }, () => status);
  }

  const create = { method: 'POST', path: '/api/products', type: FORM } as const;

  it('POST: each of the forms of 25 MB becomes a product', async () => {
    const statuses = await watched(many({ ...create, pieces: formPieces(CAKE, FIVE) }));
    expect(statuses).toEqual(all(201));
    expect(await productCount(database)).toBe(CONCURRENT);
    expect((await ledger(database)).map(({ state }) => state)).toEqual(
      Array.from({ length: 5 * CONCURRENT }, () => 'attached'),
    );
  }, 120_000);

  longIt(
    'PUT: each of the forms of 25 MB changes its product',
    async () => {
      const ids: number[] = [];
      for (let count = 0; count < CONCURRENT; count += 1) ids.push((await createProduct(admin)).id);
      const pieces = formPieces({ ...CAKE, 'images.removed[]': '' }, FIVE);
      const statuses = await watched(
        ids.map((id) => ({ method: 'PUT', path: `/api/products/${id}`, type: FORM, pieces })),
      );
      expect(statuses).toEqual(all(200));
    },
    120_000,
  );

  longIt(
    'slow senders, all of them in the middle of their last file at the same time',
    async () => {
      const pieces = formPieces(CAKE, FIVE);
      const statuses = await watched(many({ ...create, pieces, pauseMs: 150 }));
      expect(statuses).toEqual(all(201));
    },
    120_000,
  );

  it('senders that hang up half way leave nothing', async () => {
    const statuses = await watched(many({ ...create, pieces: formPieces(CAKE, FIVE), abortAfter: 12 * MIB }));
    expect(statuses).toEqual(Array.from({ length: CONCURRENT }, () => null));
    expect(await productCount(database)).toBe(0);
  }, 120_000);

  longIt.each([
    ['a fifth file of one byte too much', FORM, [...FIVE.slice(1), padded(png(), 5 * MIB + 1)], 413],
    ['six files', FORM, [...FIVE, png()], 400],
    ['a fifth file that is no picture', FORM, [...FIVE.slice(1), Buffer.alloc(5 * MIB, '<svg/>')], 400],
  ])(
    '%s',
    async (_, type, files, status) => {
      const statuses = await watched(many({ ...create, type, pieces: formPieces(CAKE, files) }));
      expect(statuses).toEqual(all(status));
    },
    120_000,
  );

  it.each([
    ['application/octet-stream', 400],
    ['application/json', 413],
    ['text/plain', 400],
  ])(
    '25 MB of %s',
    async (type, status) => {
      const statuses = await watched(many({ ...create, type, pieces: [Buffer.alloc(25 * MIB, '[')] }));
      expect(statuses.filter((answer) => answer !== null && answer !== status)).toEqual([]);
    },
    120_000,
  );

  it('forms whose fields are as large as they may be, and as many', async () => {
    const fields = Object.fromEntries(
      Array.from({ length: 45 }, (_, index) => [`field-${index}`, 'x'.repeat(60_000)]),
    );
    const statuses = await watched(many({ ...create, pieces: formPieces({ ...CAKE, ...fields }, []) }));
    expect(statuses).toEqual(all(201));
  }, 120_000);
});

async function filesUnder(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}
