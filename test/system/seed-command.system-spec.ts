import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createDatabase, queryOnce } from '../support/databases.js';
import { findEmbeddedDatabaseUrl, findServerPid } from '../support/embedded-database.js';
import { addJob, readJobs } from '../support/jobs.js';
import { expectExit, spawnBuilt, useFolder } from '../support/process.js';
import { ACCESS_SECRET, REFRESH_SECRET, SERVER_KEY } from '../support/service.js';
import { until } from '../support/wait.js';

const database = await createDatabase();
const dataDir = await useFolder('bakery-seed-');

/** Runs `npm run seed` and expects this exit code. Returns the output. */
function seed(
  exitCode: number,
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<string> {
  const all = {
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    JWT_ACCESS_SECRET: ACCESS_SECRET,
    JWT_REFRESH_SECRET: REFRESH_SECRET,
    PUBLIC_URL: 'http://bakery.test',
    ...settings,
  };
  return expectExit(exitCode, 'src/commands/seed.js', all, args);
}

async function readProductNames(): Promise<string[]> {
  const rows = await database.query<{ name: string }>('SELECT name FROM products ORDER BY name');
  return rows.map(({ name }) => name);
}

/** Returns the status, the fulfilment and the items of each order as one text. */
async function readOrders(): Promise<string[]> {
  const rows = await database.query<{ text: string }>(
    `SELECT concat_ws(', ', status, fulfilment, string_agg(name || ' x' || quantity, ', ' ORDER BY name)) AS text
     FROM orders JOIN order_items USING (order_id) GROUP BY order_id ORDER BY 1`,
  );
  return rows.map(({ text }) => text);
}

async function isProductStored(folder: string): Promise<boolean> {
  const url = await findEmbeddedDatabaseUrl(folder);
  return url !== undefined && (await queryOnce(url, 'SELECT FROM products LIMIT 1')).length > 0;
}

describe('npm run seed', () => {
  let seededAt: Date;

  beforeAll(async () => {
    seededAt = new Date();
    await seed(0, ['--products', '1', '--orders', '300', '--seed', '7']);
  });

  it('adds products with pictures, adds orders with a payment history, and runs no jobs', async () => {
    const staged = randomUUID(); // A job would remove this old image.
    await addJob(database.pool, 'seed-test', { dueInS: -3_600 });
    await database.query(
      `INSERT INTO images (id, host, state, staged_at) VALUES ($1, 'local', 'staged', now() - interval '1 day')`,
      [staged],
    );
    const output = await seed(0, ['--products', '3', '--orders', '6', '--seed', '7']);
    expect(output).toMatch(/added 3 products with \d images, and 6 orders/);
    expect(await readJobs(database.pool, 'seed-test')).toMatchObject([{ attempts: 0, locked_by: null }]);
    const images = await database.query<{ id: string; state: string }>('SELECT id, state FROM images');
    expect(images.length).toBeGreaterThan(1); // One of the images is the staged one.
    for (const { id, state } of images) {
      expect(state).toBe(id === staged ? 'staged' : 'attached');
      if (id === staged) continue;
      const picture = await readFile(join(dataDir, 'images', id.slice(0, 2), `${id}.jpg`));
      expect(picture.subarray(0, 3).toString('hex')).toBe('ffd8ff');
    }
    const ordersWithoutHistory = await database.query(
      `SELECT FROM orders WHERE status <> 'pending' AND NOT EXISTS (
         SELECT FROM payment_notifications WHERE payment_notifications.order_id = orders.order_id)`,
    );
    expect(ordersWithoutHistory).toEqual([]);
  });

  it('creates orders whose fulfilment matches their payment, and sends their customers no mail', async () => {
    const rows = await database.query<{ status: string; fulfilments: string[] }>(
      'SELECT status, array_agg(DISTINCT fulfilment ORDER BY fulfilment) AS fulfilments FROM orders GROUP BY status',
    );
    expect(Object.fromEntries(rows.map(({ status, fulfilments }) => [status, fulfilments]))).toEqual({
      settlement: ['collected', 'new', 'preparing', 'ready', 'refused'],
      partial_refund: ['collected'],
      refund: ['refused'],
      pending: ['new'],
      expire: ['new'],
      cancel: ['refused'],
    });
    expect(await readJobs(database.pool, 'send-order-mail')).toEqual([]);
  });

  it('spreads orders over past and coming days, with consistent times and with pickups in the opening hours', async () => {
    // The opening hours are those of `examples/bakery.json`.
    const shop = await database.query<{ time_zone: string }>('SELECT time_zone FROM shop');
    expect(shop).toEqual([{ time_zone: 'Asia/Jakarta' }]);
    const rows = await database.query<Record<string, unknown>>(
      `WITH days AS (
        SELECT *, (coalesce(pickup_at, first_paid_at) AT TIME ZONE 'Asia/Jakarta')::date AS day,
          ($1::timestamptz AT TIME ZONE 'Asia/Jakarta')::date AS today, first_paid_at IS NOT NULL AS is_paid,
          to_char(pickup_at AT TIME ZONE 'Asia/Jakarta', 'HH24:MI') AS time
        FROM orders)
      SELECT count(DISTINCT day) FILTER (WHERE day < today AND is_paid) > 45 AS "most past days have a paid order",
        count(*) FILTER (WHERE day = today AND is_paid) >= 15 AS "today has at least 15 paid orders",
        count(*) FILTER (WHERE day > today AND is_paid) > 0 AS "a coming day has a paid order",
        min(time) >= '06:30' AND max(time) < '19:00' AS "pickups are in the opening hours",
        bool_and(is_paid = (status IN ('settlement', 'refund', 'partial_refund')))
          AS "exactly the paid and refunded orders have a time of payment",
        bool_and(created_at < now() AND (NOT is_paid OR first_paid_at BETWEEN created_at AND now()))
          AS "each payment follows its order",
        bool_and((completed_at IS NOT DISTINCT FROM CASE WHEN status = 'settlement' THEN first_paid_at END))
          AS "completed_at is the time of payment of settled orders, and null for others",
        bool_and(refunded_amount = 0 OR status IN ('refund', 'partial_refund')) AS "only refunded orders have refunds"
      FROM days`,
      [seededAt],
    );
    const violated = Object.entries(rows[0] ?? {}).filter(([, holds]) => holds !== true);
    expect(violated).toEqual([]);
  });

  it('does not change a shop that an administrator has set up', async () => {
    await database.query("UPDATE shop SET time_zone = 'Europe/Berlin'");
    await seed(0, ['--products', '1', '--orders', '0']);
    const rows = await database.query('SELECT time_zone FROM shop');
    await database.query("UPDATE shop SET time_zone = 'Asia/Jakarta'");
    expect(rows).toEqual([{ time_zone: 'Europe/Berlin' }]);
  });

  it('adds nothing if orders are requested while the shop takes none', async () => {
    const readAll = () => Promise.all([readProductNames(), readOrders()]);
    const before = await readAll();
    await database.query("UPDATE shop SET paused_until = now() + interval '1 day'");
    const output = await seed(1, ['--products', '1', '--orders', '1']);
    await database.query('UPDATE shop SET paused_until = NULL');
    expect(output).toContain('the shop takes no orders');
    expect(await readAll()).toEqual(before);
  });

  it('creates products with different names, and the same products and orders in a second run with the same options', async () => {
    await database.query('TRUNCATE products, images, orders CASCADE');
    await seed(0, ['--products', '120', '--orders', '60']);
    const [names, orders] = [await readProductNames(), await readOrders()];
    expect([new Set(names).size, orders.length]).toEqual([120, 60]);
    await seed(0, ['--products', '120', '--orders', '60']);
    expect(await readProductNames()).toEqual(names.flatMap((name) => [name, name]));
    expect(await readOrders()).toEqual(orders.flatMap((order) => [order, order]));
  });

  it('stops the embedded database, which the command has started, if a signal ends the command', async () => {
    const folder = join(dataDir, 'stopped');
    const command = spawnBuilt('src/commands/seed.js', { DATA_DIR: folder }, ['--products', '5000']);
    // Reading fails until the command has created the table.
    await until('a product is stored', () => isProductStored(folder).catch(() => false), 60_000);
    command.child.kill('SIGHUP');
    expect(await command.exited).toBe(1);
    expect(command.output()).toContain('stopped by SIGHUP');
    expect(await findServerPid(folder)).toBeUndefined();
  });

  it('requires --yes in production', async () => {
    const production = { NODE_ENV: 'production', MIDTRANS_SERVER_KEY: SERVER_KEY };
    expect(await seed(1, ['--products', '1'], production)).toContain('use --yes');
  });
});
