import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, inflateSync } from 'node:zlib';
import { catalog } from '../../src/commands/seed/catalog.js';
import { Gallery, type PictureName } from '../../src/commands/seed/pictures/gallery.js';
import { createDatabase, type TestDatabase } from '../support/databases.js';
import { spawnBuilt } from '../support/process.js';
import { ACCESS_SECRET, REFRESH_SECRET } from '../support/service.js';

let database: TestDatabase;
let dataDir: string;

beforeAll(async () => {
  database = await createDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'bakery-seed-'));
});

afterAll(async () => {
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

async function seed(
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number | null; readonly output: string }> {
  const command = spawnBuilt(
    'src/commands/seed.js',
    {
      DATABASE_URL: database.url,
      DATA_DIR: dataDir,
      JWT_ACCESS_SECRET: ACCESS_SECRET,
      JWT_REFRESH_SECRET: REFRESH_SECRET,
      PUBLIC_URL: 'http://bakery.test',
      ...settings,
    },
    args,
  );
  return { code: await command.exited, output: command.output() };
}

/** Reads a PNG strictly: checksums, order of the chunks, one stream of data of just the right length. */
function sizeOfPng(file: Buffer): { width: number; height: number } {
  expect(file.subarray(0, 8).toString('hex')).toBe('89504e470d0a1a0a');
  const types: string[] = [];
  const data: Buffer[] = [];
  for (let at = 8; at < file.length;) {
    const length = file.readUInt32BE(at);
    const typed = file.subarray(at + 4, at + 8 + length);
    expect(file.readUInt32BE(at + 8 + length)).toBe(crc32(typed));
    types.push(typed.toString('ascii', 0, 4));
    if (types.at(-1) === 'IDAT') data.push(typed.subarray(4));
    at += 12 + length;
  }
  expect(types).toEqual(['IHDR', 'IDAT', 'IEND']);
  const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)];
  expect(inflateSync(Buffer.concat(data))).toHaveLength((width * 3 + 1) * height);
  return { width, height };
}

describe('npm run seed', () => {
  it('has a catalog of 1,000 different, plausible products that a seed reproduces', () => {
    const products = catalog(1000, 1);
    expect(new Set(products.map(({ name }) => name)).size).toBe(1000);
    expect(catalog(1000, 1)).toEqual(products);
    expect(catalog(10, 1)).toEqual(products.slice(0, 10));
    expect(catalog(10, 2)).not.toEqual(products.slice(0, 10));
    for (const { name, description, price } of products) {
      expect(name.length).toBeLessThanOrEqual(255);
      expect(description.split('. ').length).toBeGreaterThanOrEqual(3);
      expect(Number(price) % 500).toBe(0);
      expect(Number(price)).toBeGreaterThan(1000);
    }
  });

  it('gives sockets and timers a turn after each picture, which takes long to paint', async () => {
    let turns = 0;
    const takeTurns = (): void => {
      turns += 1;
      turn = setImmediate(takeTurns);
    };
    let turn = setImmediate(takeTurns);
    try {
      const turnsAtPicture: number[] = [];
      const names = [0, 1].map((variant) => ({ motif: 'croissant', variant }) as PictureName);
      const gallery = await Gallery.of([...names, ...names], () => turnsAtPicture.push(turns));
      expect(turnsAtPicture).toHaveLength(2);
      expect(turnsAtPicture[0]).toBeGreaterThan(0);
      expect(turnsAtPicture[1]).toBeGreaterThan(turnsAtPicture[0] ?? 0);
      for (const name of names) expect(sizeOfPng(gallery.picture(name))).toEqual({ width: 640, height: 480 });
    } finally {
      clearImmediate(turn);
    }
  });

  it('stores products with real pictures through the image ledger, and orders that were paid', async () => {
    const made = await seed(['--products', '3', '--orders', '6', '--seed', '7']);
    expect(made).toMatchObject({
      code: 0,
      output: expect.stringMatching(/added 3 products with \d images, and 6 orders/) as string,
    });
    const { rows } = await database.pool.query<{ state: string; url: string }>(
      'SELECT state, url FROM images',
    );
    expect(rows.length).toBe(catalog(3, 7).flatMap(({ pictures }) => pictures).length);
    for (const { state, url } of rows) {
      expect(state).toBe('attached');
      const name = new URL(url).pathname.split('/').at(-1) ?? '';
      const file = await readFile(join(dataDir, 'images', name.slice(0, 2), name));
      expect(sizeOfPng(file)).toEqual({ width: 640, height: 480 });
      expect(file.length).toBeLessThan(110_000);
    }
    const orders = await database.pool.query<{ is: boolean }>(
      `SELECT bool_and(status = 'pending' OR EXISTS (
         SELECT FROM payment_notifications WHERE payment_notifications.order_id = orders.order_id)) AS is FROM orders`,
    );
    expect(orders.rows).toEqual([{ is: true }]);
  });

  it('refuses in production without --yes', async () => {
    const production = { NODE_ENV: 'production', MIDTRANS_SERVER_KEY: 'SB-Mid-server-of-this-test' };
    const refused = await seed(['--products', '1'], production);
    expect(refused).toMatchObject({ code: 1, output: expect.stringContaining('with --yes') as string });
  });

  it.each<[string[], string, Record<string, string>?]>([
    [[], '--products is missing: it must be a whole number from 1 to'],
    [['--products', 'abc'], '--products abc must be a whole number from 1 to'],
    [['--products', '99999'], '--products 99999 must be a whole number from 1 to'],
    [['--products', '1', '--colour'], "Unknown option '--colour'"],
    [['10'], 'npm took --products for itself: write -- before', { npm_config_products: '10' }],
  ])('says what is wrong with the command line before its help: %j', async (args, reason, settings = {}) => {
    const { code, output } = await seed(args, settings);
    expect({ code, output }).toEqual({
      code: 2,
      output: expect.stringContaining('npm run seed --') as string,
    });
    expect(output.slice(0, reason.length)).toBe(reason);
  });
});
