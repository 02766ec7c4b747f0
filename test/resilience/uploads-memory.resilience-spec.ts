import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '../support/client.js';
import { noisyPng } from '../support/pictures.js';
import { CAKE, countProducts, letTimePass, readLedger } from '../support/products.js';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.js';
import { formPieces, upload, type UploadOptions } from '../support/upload-load.js';
import { until } from '../support/wait.js';
import { isLongForm } from './support/long-form.js';

const MIB = 1024 * 1024;
const MAX_RESIDENT_MIB = 400;
const CONCURRENT = isLongForm ? 100 : 40;

const FILE = noisyPng(5 * MIB);
const FIVE = [FILE, FILE, FILE, FILE, FILE];

describe('resident memory of the service stays under 400 MB while forms of 25 MB are sent', () => {
  let service: ServiceProcess;
  let admin: Client;

  beforeAll(async () => {
    service = await startServiceProcess({ LOG_LEVEL: 'error' });
    admin = await service.admin();
  });

  afterAll(() => service.stop());

  afterEach(async () => {
    const { rows } = await service.database.pool.query<{ id: number }>('SELECT id FROM products');
    for (const { id } of rows) await admin.delete(`/api/products/${id}`).expect(204);
    await until(
      'no image is left',
      async () => {
        await service.database.pool.query("UPDATE images SET staged_at = staged_at - interval '120 s'");
        await letTimePass(service.database);
        return (await readLedger(service.database)).length === 0;
      },
      60_000,
    );
  });

  /** Sends uploads at the same time and measures the memory. @returns statuses; null if disconnected */
  async function send(options: UploadOptions = {}, pieces = formPieces(CAKE, FIVE)) {
    let [maxMib, isDone] = [0, false];
    const measuring = (async () => {
      while (!isDone) {
        maxMib = Math.max(maxMib, await service.residentMiB());
        await delay(50);
      }
    })();
    const statuses = await Promise.all(
      Array.from({ length: CONCURRENT }, () => upload(admin, pieces, options)),
    );
    isDone = true;
    await measuring;
    expect(maxMib).toBeLessThan(MAX_RESIDENT_MIB);
    return statuses;
  }

  const all = (status: number | null) => Array.from({ length: CONCURRENT }, () => status);

  it('and every form creates a product', async () => {
    expect(await send()).toEqual(all(201));
    expect(await countProducts(service.database)).toBe(CONCURRENT);
    expect(await readLedger(service.database)).toHaveLength(5 * CONCURRENT);
  });

  // Takes a minute.
  (isLongForm ? it : it.skip)(
    'and forms of slow senders create products, or get 408 after waiting for a minute',
    async () => {
      const statuses = await send({ pauseMs: 150 });
      expect(new Set(statuses)).toEqual(new Set([201, 408]));
      expect(await countProducts(service.database)).toBe(statuses.filter((status) => status === 201).length);
    },
  );

  it('and senders that disconnect halfway leave no data', async () => {
    expect(await send({ abortAfter: 12 * MIB })).toEqual(all(null));
    expect(await countProducts(service.database)).toBe(0);
  });

  it.each([
    ['application/octet-stream', 400],
    ['application/json', 413],
  ])('and bodies of type %s are rejected', async (type, status) => {
    const statuses = await send({ type }, [Buffer.alloc(25 * MIB, '[')]);
    expect(statuses.filter((actual) => actual !== null && actual !== status)).toEqual([]);
  });

  it('and forms with the maximum number and size of text fields are accepted', async () => {
    const fields = Object.fromEntries(
      Array.from({ length: 45 }, (_, index) => [`field-${index}`, 'x'.repeat(60_000)]),
    );
    expect(await send({}, formPieces({ ...CAKE, ...fields }, []))).toEqual(all(201));
  });
});
