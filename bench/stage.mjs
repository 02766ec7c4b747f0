import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { startEmbeddedPostgres } from '../dist/src/database/embedded-postgres.js';
import { migrate } from '../dist/src/database/migrate.js';
import { withClient } from '../dist/src/database/with-client.js';
import { LEAD_IN_SECONDS, warmUpSeconds } from './measure.mjs';
import { Processes, SERVICE_FLAGS } from './processes.mjs';
import { seedAccounts, seedPendingOrders, spreadOrders } from './seed-writes.mjs';
import { seedPaidOrders } from './seed-reports.mjs';
import { seed } from './seed.mjs';
import { ACCESS_SECRET, BENCH_SECRET, REFRESH_SECRET } from './tokens.mjs';

const root = join(import.meta.dirname, '..');
export const SERVER_KEY = `SB-Mid-server-${BENCH_SECRET}`;
/** Number of products in the databases of rows that write. */
export const SHOP_PRODUCTS = 1_000;
const ORDERS = 10_000;

/** Pending orders to seed for each second of notifications. More than the fastest floor pays in a second. */
const PENDING_ORDERS_PER_SECOND = 7_500;

/** Folder inside the stage's folder: DATA_DIR of services that start an embedded PostgreSQL. */
export const START_FOLDER = 'start';

/** Removes a DATA_DIR and its PostgreSQL cluster. If the cluster is elsewhere, `postgres-location` has its path. */
async function removeDataDir(folder) {
  const location = await readFile(join(folder, 'postgres-location'), 'utf8').catch(() => null);
  if (location !== null) await rm(dirname(location.trim()), { recursive: true, force: true });
  await rm(folder, { recursive: true, force: true });
}

/**
 * Environment of the measurements: one embedded PostgreSQL with durable settings and without autovacuum, its databases,
 * and the processes that the rows start and stop.
 */
export class Stage {
  #template;
  #catalogs = new Map();
  #shops = 0;

  static async open(options, log) {
    // Use the folder of the service's data, so that the measurements use the same disk.
    await mkdir(join(root, '.data'), { recursive: true });
    const folder = await mkdtemp(join(root, '.data', 'bench-'));
    const serverSettings = { autovacuum: 'off' };
    const postgres = await startEmbeddedPostgres({ dataDir: folder, log: () => {}, serverSettings });
    return new Stage(options, log, folder, postgres);
  }

  constructor(options, log, folder, postgres) {
    this.options = options;
    this.log = log;
    this.folder = folder;
    this.postgres = postgres;
    this.processes = new Processes(folder);
  }

  /** Returns the URL of a database with this number of products. Rows share the database, so they must only read it. */
  getCatalogDatabase(products) {
    if (!this.#catalogs.has(products)) this.#catalogs.set(products, this.#seedCatalog(products));
    return this.#catalogs.get(products);
  }

  /** Creates a database with products, accounts, orders and pending orders. @returns its URL */
  async createShopDatabase() {
    this.#template ??= this.#seedShop();
    await this.#template;
    this.#shops += 1;
    return this.#createDatabase(`shop_${this.#shops}`, 'shop');
  }

  /** Creates a database with accounts, the products of a shop, and paid orders. @returns its URL */
  createSalesDatabase(orders) {
    return this.#createSeeded(`sales_${orders}`, `${orders} paid orders`, async (url) => {
      await seed(url, SHOP_PRODUCTS, 0);
      await seedAccounts(url);
      await seedPaidOrders(url, orders, SHOP_PRODUCTS);
    });
  }

  /** Traffic that pays each pending order of a shop once. */
  get paymentTraffic() {
    return {
      kind: 'notifications',
      options: { serverKey: SERVER_KEY, first: 1, last: this.#pendingCount },
    };
  }

  get #pendingCount() {
    const { rounds, seconds } = this.options;
    return PENDING_ORDERS_PER_SECOND * (rounds * (seconds + LEAD_IN_SECONDS) + warmUpSeconds(seconds));
  }

  /** Starts the service as deployed: production settings, logging at info. */
  async startService(databaseUrl, settings = {}) {
    const { profile } = this.options;
    const profiling = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(profile)}`];
    return this.processes.start(
      'service',
      'dist/src/main.js',
      { ...(await this.#serviceSettings(databaseUrl)), ...settings },
      [...SERVICE_FLAGS, ...profiling],
    );
  }

  /** Starts a floor: a minimal program that does the work of a row without the service. */
  startFloor(name, databaseUrl) {
    return this.processes.start(name, `bench/floors/${name}.mjs`, {
      DATABASE_URL: databaseUrl,
      JWT_ACCESS_SECRET: ACCESS_SECRET,
      SERVER_KEY,
      IMAGES_DIR: join(this.folder, 'floor-images'),
    });
  }

  startFloors(names, databaseUrl) {
    return Promise.all(names.map((name) => this.startFloor(name, databaseUrl)));
  }

  stop(...processes) {
    return Promise.all(processes.map((started) => this.processes.stop(started)));
  }

  /** Executes one statement on a separate connection. */
  async query(databaseUrl, text, values) {
    const { rows } = await withClient(databaseUrl, (client) => client.query(text, values));
    return rows;
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

  #seedShop() {
    const count = this.#pendingCount;
    const description = `a shop: ${SHOP_PRODUCTS} products, ${ORDERS} orders, ${count} pending orders, accounts`;
    return this.#createSeeded('shop', description, async (url) => {
      await seed(url, SHOP_PRODUCTS, ORDERS);
      await seedAccounts(url);
      await spreadOrders(url);
      await seedPendingOrders(url, count);
    });
  }

  #seedCatalog(products) {
    return this.#createSeeded(`catalog_${products}`, `${products} products`, async (url) => {
      await seed(url, products, 0);
      await seedAccounts(url);
    });
  }

  async #createSeeded(name, description, fill) {
    const startedAt = performance.now();
    const url = await this.#createDatabase(name, 'template1');
    await migrate(url);
    await fill(url);
    // Autovacuum is off, because it could run during a round.
    await this.query(url, 'VACUUM (ANALYZE)');
    this.log(`seeded ${description} in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
    return url;
  }

  async #createDatabase(name, template) {
    await this.query(this.postgres.url, `CREATE DATABASE ${name} TEMPLATE ${template}`);
    const url = new URL(this.postgres.url);
    url.pathname = `/${name}`;
    return url.href;
  }
}
