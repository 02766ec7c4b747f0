import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../dist/src/config/embedded-postgres.js';
import { migrate } from '../dist/src/config/migrate.js';
import { LONG_WARM_UP_SECONDS } from './measure.mjs';
import { Processes, SERVICE_FLAGS } from './processes.mjs';
import { seedAccounts, seedPendingOrders, spreadOrders } from './seed-writes.mjs';
import { seed } from './seed.mjs';
import { ACCESS_SECRET, REFRESH_SECRET } from './tokens.mjs';

const root = join(import.meta.dirname, '..');
export const SERVER_KEY = 'SB-Mid-server-of-the-benchmark';

/** Orders that a round of notifications may use up in a second; more than any floor was seen to take. */
const NOTIFICATIONS_PER_SECOND = 7000;
/** Enough for a mixed load, which may pay an order more than once. */
export const MIXED_ORDERS = 10_000;

const queue = (first, count) => ({ first, last: first + count - 1 });

/** DATA_DIR, below the stage's folder, of the services that are started with a PostgreSQL of their own. */
export const START_FOLDER = 'start';

/** Removes a DATA_DIR that nothing runs on. As root under a folder that others cannot enter, its cluster lies elsewhere. */
async function removeDataDir(folder) {
  const elsewhere = await readFile(join(folder, 'postgres-location'), 'utf8').catch(() => null);
  if (elsewhere !== null) await rm(dirname(elsewhere.trim()), { recursive: true, force: true });
  await rm(folder, { recursive: true, force: true });
}

/**
 * All that is measured runs here: one embedded PostgreSQL with its ordinary, durable settings, a database for the
 * service and one like it for the floors, and processes that are started and ended by the rows.
 */
export class Stage {
  #databases;
  #catalogs = new Map();

  static async open(options, log) {
    // Beside the service's own data, so that the disk is the one that a service here would use.
    await mkdir(join(root, '.data'), { recursive: true });
    const folder = await mkdtemp(join(root, '.data', 'bench-'));
    const postgres = await startEmbeddedPostgres({ dataDir: folder, log: () => {} });
    return new Stage(options, log, folder, postgres);
  }

  constructor(options, log, folder, postgres) {
    this.options = options;
    this.log = log;
    this.folder = folder;
    this.postgres = postgres;
    this.processes = new Processes(folder);
  }

  /** URLs of the two seeded databases and their pending orders; made by the first row that asks.
   * Each row that pays has a queue of its own, {first, last}. */
  databases() {
    this.#databases ??= this.#seedBoth();
    return this.#databases;
  }

  /** URL of a database that holds so many products (and orders) and nothing to write to. */
  catalog(products, orders = 10) {
    const name = `catalog_${products}`;
    if (!this.#catalogs.has(name)) this.#catalogs.set(name, this.#seedCatalog(name, products, orders));
    return this.#catalogs.get(name);
  }

  async dropCatalog(products) {
    this.#catalogs.delete(`catalog_${products}`);
    await this.query(this.postgres.url, `DROP DATABASE catalog_${products} WITH (FORCE)`);
  }

  /** The service as it is deployed: production settings, logging at info. */
  async service(databaseUrl, settings = {}) {
    const { profile } = this.options;
    return this.processes.start(
      'service',
      'dist/src/main.js',
      { ...(await this.#serviceSettings(databaseUrl)), ...settings },
      [
        ...SERVICE_FLAGS,
        ...(profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(profile)}`]),
      ],
    );
  }

  floor(name, databaseUrl) {
    return this.processes.start(name, `bench/floors/${name}.mjs`, {
      DATABASE_URL: databaseUrl,
      JWT_ACCESS_SECRET: ACCESS_SECRET,
      SERVER_KEY,
      IMAGES_DIR: join(this.folder, 'floor-images'),
    });
  }

  stop(...processes) {
    return Promise.all(processes.map((started) => this.processes.stop(started)));
  }

  /** One statement on a connection of its own. */
  async query(databaseUrl, text, values) {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    try {
      return (await client.query(text, values)).rows;
    } finally {
      await client.end();
    }
  }

  async close() {
    await this.processes.stopAll();
    await this.postgres.stop();
    await removeDataDir(join(this.folder, START_FOLDER));
    await removeDataDir(this.folder);
  }

  async #serviceSettings(databaseUrl) {
    this.gateway ??= this.processes.start('gateway', 'bench/gateway-stand-in.mjs', {});
    const { url } = await this.gateway;
    return {
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      LOG_LEVEL: 'info',
      DATABASE_URL: databaseUrl,
      DATA_DIR: join(this.folder, 'service'),
      JWT_ACCESS_SECRET: ACCESS_SECRET,
      JWT_REFRESH_SECRET: REFRESH_SECRET,
      PUBLIC_URL: 'http://localhost:3000',
      IMAGE_HOST: 'local',
      PAYMENT_GATEWAY: 'midtrans',
      MIDTRANS_SERVER_KEY: SERVER_KEY,
      MIDTRANS_SNAP_URL: `${url}/snap/v1`,
      MIDTRANS_API_URL: url,
    };
  }

  async #seedBoth() {
    const { products, rounds, seconds, rows } = this.options;
    const service = await this.#createDatabase('bench_service');
    await migrate(service);
    await this.#timed(`${products} products, 10000 orders, accounts`, async () => {
      await seed(service, products, 10_000);
      await seedAccounts(service);
      await spreadOrders(service);
    });
    const notifications = NOTIFICATIONS_PER_SECOND * (rounds * seconds + LONG_WARM_UP_SECONDS);
    const pendingOrders = {
      payments: queue(1, notifications),
      orders: queue(notifications + 1, notifications),
    };
    const needed = Math.max(
      MIXED_ORDERS,
      ...Object.entries(pendingOrders).map(([row, { last }]) => (rows.includes(row) ? last : 0)),
    );
    await this.#timed(`${needed} orders to be paid`, () => seedPendingOrders(service, needed));
    // Now, and not by itself in the middle of a round.
    await this.query(service, 'VACUUM (ANALYZE)');
    const floors = await this.#createDatabase('bench_floors', 'bench_service');
    return { service, floors, pendingOrders };
  }

  async #seedCatalog(name, products, orders) {
    const url = await this.#createDatabase(name);
    await migrate(url);
    await this.#timed(`${products} products, ${orders} orders`, async () => {
      await seed(url, products, orders);
      await seedAccounts(url);
      await spreadOrders(url);
    });
    return url;
  }

  async #createDatabase(name, template = 'template1') {
    await this.query(this.postgres.url, `CREATE DATABASE ${name} TEMPLATE ${template}`);
    const url = new URL(this.postgres.url);
    url.pathname = `/${name}`;
    return url.href;
  }

  async #timed(what, work) {
    const begun = performance.now();
    await work();
    this.log(`seeded ${what} in ${((performance.now() - begun) / 1000).toFixed(1)} s`);
  }
}
