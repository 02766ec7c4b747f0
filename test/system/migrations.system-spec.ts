import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { signIn } from '../support/accounts.js';
import { importBuilt, importPackage } from '../support/built.js';
import { beginTransaction, createDatabase, type TestDatabase } from '../support/databases.js';
import { QUEUE_SCHEMA } from '../support/jobs.js';
import { buildNotification, sendNotification } from '../support/notifications.js';
import { pageOf, readOrder } from '../support/orders.js';
import { createPng } from '../support/pictures.js';
import { useFolder } from '../support/process.js';
import { listProducts, readImageStatus } from '../support/products.js';
import { readContents, readSchema } from '../support/schema.js';
import { useService } from '../support/service.js';
import { until } from '../support/wait.js';

/** Statements that TypeORM proposes although the tables are right. */
const NEEDLESS_STATEMENTS = new Set([
  `ALTER TABLE "orders" ALTER COLUMN "next_check_at" SET DEFAULT now() + interval '5 minutes'`,
  // Columns that only SQL reads, or only a person or version 1.2.
  'ALTER TABLE "one_time_passwords" DROP COLUMN "requested_at"',
  'ALTER TABLE "one_time_passwords" DROP COLUMN "requester"',
  'ALTER TABLE "products" DROP COLUMN "created_at"',
  'ALTER TABLE "products" DROP COLUMN "search_name"',
  'ALTER TABLE "sessions" DROP COLUMN "created_at"',
  'ALTER TABLE "sessions" DROP COLUMN "expires_at"',
  'ALTER TABLE "users" DROP COLUMN "created_at"',
  'DELETE FROM "typeorm_metadata" WHERE "type" = $1 AND "name" = $2 AND "database" = $3 AND "schema" = $4 AND "table" = $5',
]);

const { migrate, connectAndReadMigrationStatus, revertLastMigration } =
  await importBuilt('src/database/migrate.js');

/** Key of the advisory lock that a process takes to migrate. */
const MIGRATION_LOCK = 7225001;
/** Timestamp of the last migration of version 1.0. */
const LAST_OF_VERSION_1 = 1764000000000;
/** Tables and columns that migrations after version 1.0 drop: sessions, and data of the simulator. */
const LOST_SINCE_VERSION_1 = [
  'simulator_notifications',
  'simulator_transactions.created_at',
  'simulator_transactions.fraud_status',
  'simulator_transactions.payment_details',
  'simulator_transactions.payment_type',
  'simulator_transactions.settlement_time',
  'simulator_transactions.transaction_id',
  'simulator_transactions.transaction_time',
  'users.claims_version',
  'users.refresh_token_digest',
  'users.sessions_ended_at',
];

/** Values that the schema of version 1.0 cannot store. Each revert must accept them and keep all that it can. */
const DATA_OF_NEWEST_VERSION = `
  INSERT INTO payment_notifications (order_id, outcome, source, refund_amount, transaction_id, transaction_status, payload)
    SELECT order_id, 'applied', 'refund', 1000, 't', 'refund', '{}' FROM orders LIMIT 1;
  INSERT INTO payment_notifications (order_id, outcome, transaction_id, transaction_status, payload)
    SELECT order_id, 'unconfirmed', 't', 'settlement', '{}' FROM orders LIMIT 1;
  INSERT INTO refunds (refund_id, order_id, attempt_id, transaction_id, gateway_sum, amount, is_manual, state,
      request_digest, user_id, rejection)
    SELECT gen_random_uuid(), order_id, order_id, 't', 0, 1000, false, 'rejected', '\\x00', user_id, 'too late'
    FROM orders LIMIT 1;
  INSERT INTO order_actions (order_id, action, user_id) SELECT order_id, 'preparing', user_id FROM orders LIMIT 1;
  UPDATE orders SET phone = '+62 812', note = 'a candle', pickup_at = now(), pay_until = now(), surplus_amount = 500;
  UPDATE users SET language = 'id'`;

/** Changes a new database to what version 1.0.0 left, but with orders created now, because older orders would expire. */
async function revertToVersion1({ query, url }: TestDatabase): Promise<void> {
  const { applied } = await connectAndReadMigrationStatus(url);
  await revertFrom(url, applied.find((name) => Number(/\d+$/.exec(name)?.[0]) > LAST_OF_VERSION_1) ?? '');
  await query(await readFile('test/fixtures/version-1.0.sql', 'utf8'));
  // New ids must not collide with the ids of these rows.
  await query(
    `SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, 1000) FROM pg_sequences
     WHERE schemaname = 'public'`,
  );
  await query("UPDATE orders SET created_at = now(), next_check_at = now() + interval '5 minutes'");
}

/** Reverts a migration and all later ones. */
async function revertFrom(url: string, name: string): Promise<void> {
  while ((await connectAndReadMigrationStatus(url)).applied.includes(name)) await revertLastMigration(url);
}

type Contents = Awaited<ReturnType<typeof readContents>>;

/** Expects the same rows in all tables and columns that exist in both. Returns the tables and columns only in `before`. */
function expectKeptContents(before: Contents, after: Contents): string[] {
  return [...before].flatMap(([table, rows]) => {
    const kept = after.get(table);
    if (kept === undefined) return [table];
    const columns = Object.keys(rows[0] ?? {});
    const gone = columns.filter((column) => kept[0] !== undefined && !(column in kept[0]));
    const common = columns.filter((column) => !gone.includes(column));
    const texts = toSortedTexts(rows, common);
    expect({ table, texts: toSortedTexts(kept, common) }).toEqual({ table, texts });
    return gone.map((column) => `${table}.${column}`);
  });
}

/** Older names of values that a revert renames. */
const RENAMED: Readonly<Record<string, string>> = { refund: 'reconciliation', unconfirmed: 'late' };

/** Returns rows as sorted JSON, with older names of values, and only the file name of an image's URL, which changes. */
function toSortedTexts(rows: readonly Record<string, unknown>[], columns: readonly string[]): string[] {
  const valueOf = (value: unknown, column: string): unknown => {
    if (typeof value !== 'string') return value;
    if (column === 'url') return value.split('/').at(-1);
    return column === 'source' || column === 'outcome' ? (RENAMED[value] ?? value) : value;
  };
  return rows.map((row) => JSON.stringify(columns.map((column) => valueOf(row[column], column)))).sort();
}

describe('the migrations', () => {
  let database: TestDatabase;
  let dataDir: string;

  beforeEach(async () => {
    database = await createDatabase();
    dataDir = await useFolder('bakery-upgrade-');
  });

  it('can be reverted one by one on a filled database without loss of earlier data, and then lead to the same schema again', async () => {
    await revertToVersion1(database);
    await migrate(database.url);
    const { pool, query, url } = database;
    // A notification of the simulator as later versions store it, without the `kind` of version 1.0.
    const sent = { id: randomUUID(), status: 'settlement', body: '{}', sentAt: new Date(), answer: null };
    await query('UPDATE simulator_transactions SET notifications = $1', [JSON.stringify([sent])]);
    await query(DATA_OF_NEWEST_VERSION);
    const schema = await readSchema(pool);
    expect(schema.length).toBeGreaterThan(80); // The comparisons below must not compare empty schemas.
    const { applied } = await connectAndReadMigrationStatus(url);

    for (const name of [...applied].reverse()) {
      const before = await readContents(pool);
      expect(await revertLastMigration(url)).toBe(name);
      expectKeptContents(before, await readContents(pool));
    }
    expect(await revertLastMigration(url)).toBeNull();
    expect([...(await readContents(pool)).keys()]).toEqual([]);
    // The tables of the job queue remain: graphile-worker creates them, not a migration of the service.
    const name = `${QUEUE_SCHEMA}.migrations`;
    expect(await query('SELECT to_regclass($1) AS name', [name])).toEqual([{ name }]);

    // A revert that drops more or less than its migration has added leads to another schema here.
    for (const name of applied) {
      await revertFrom(url, name);
      await migrate(url);
      expect(await readSchema(pool)).toEqual(schema);
    }
  });

  it('keep the accounts, images and orders of a shop that version 1.0.0 filled, but no sessions and simulated payments', async () => {
    await revertToVersion1(database);
    const images = await database.query<{ id: string }>('SELECT id FROM images');
    for (const { id } of images) {
      await mkdir(join(dataDir, 'images', id.slice(0, 2)), { recursive: true });
      await writeFile(join(dataDir, 'images', id.slice(0, 2), `${id}.png`), createPng());
    }
    const before = await readContents(database.pool);
    await migrate(database.url);
    const losses = expectKeptContents(before, await readContents(database.pool));
    expect(losses.sort()).toEqual(LOST_SINCE_VERSION_1);

    const service = await useService({ database, settings: { DATA_DIR: dataDir } });
    const customer = await signIn(service, 'wayan@example.com', 'baked in 1.0');
    await signIn(service, 'admin@bakery.example', 'the owner of 1.0');
    const products = await listProducts(customer);
    expect(products.map(({ name, price, images }) => [name, price, images?.length ?? 0]).sort()).toEqual([
      ['Lapis Legit', 185000.5, 1],
      ['Roti Sobek', 28000, 2],
      ['Sourdough', 45000, 0],
    ]);
    for (const image of products.flatMap(({ images }) => images ?? []))
      expect(await readImageStatus(customer, image)).toBe(200);

    const { orders } = pageOf(await customer.get('/api/orders').expect(200));
    expect(orders.map(({ status }) => status).toSorted()).toEqual(['cancel', 'pending', 'settlement']);
    const { order_id = '', gross_amount } = orders.find(({ status }) => status === 'pending') ?? {};
    const notification = buildNotification({ order_id, gross_amount: `${gross_amount}.00` });
    await sendNotification(service, notification).expect(200);
    expect(await readOrder(customer, order_id)).toMatchObject({ status: 'settlement' });
  });

  it('omit only the index of the product search if the extension pg_trgm cannot be created', async () => {
    const { pool, query, url } = database;
    const schema = await readSchema(pool);
    await revertFrom(url, 'OwnersDay1765600000000'); // adds the product search
    await query('DROP EXTENSION pg_trgm');
    await query(
      `DO $$ BEGIN EXECUTE format('REVOKE CREATE ON DATABASE %I FROM CURRENT_USER', current_database()); END $$`,
    );
    await migrate(url);
    const withoutIndex = schema.filter((line) => !line.includes('products_search_name_idx'));
    expect(withoutIndex).toHaveLength(schema.length - 1);
    expect(await readSchema(pool)).toEqual(withoutIndex);
  });

  it('create the tables that the entities describe', async () => {
    // TypeORM reads the expressions of generated columns from this table.
    await database.query(
      'CREATE TABLE typeorm_metadata (type text, database text, schema text, "table" text, name text, value text)',
    );
    const service = await useService({ database });
    const typeorm = await importPackage('typeorm');
    const log = await service.app.get(typeorm.DataSource).driver.createSchemaBuilder().log();
    const statements = log.upQueries.map(({ query }) => query);
    // TypeORM proposes to drop the checks, the indexes and some keys, which only the migrations describe.
    const drop = /^(ALTER TABLE "\w+" DROP CONSTRAINT|DROP INDEX) "[\w".]+"$/;
    expect(statements.filter((query) => !drop.test(query) && !NEEDLESS_STATEMENTS.has(query))).toEqual([]);
  });

  it('are retried while a long transaction locks a table, and block readers only briefly', async () => {
    const { pool, url } = database;
    await revertFrom(url, 'AttemptOfOrder1763810000000'); // changes the table of orders
    const { commit } = await beginTransaction(database, 'SELECT FROM orders');
    const log: string[] = [];
    const migrating = migrate(url, (line) => log.push(line));
    await until('the migration is retried', async () => {
      // A reader waits only as long as the migration waits for its lock.
      await pool.query("SET statement_timeout = '8s'; SELECT FROM orders");
      return log.length > 0;
    });
    expect(log[0]).toMatch(/^a migration could not lock a table that another transaction uses/);
    await commit();
    await migrating;
    expect((await connectAndReadMigrationStatus(url)).pending).toEqual([]);
  });

  it('wait for the lock of another process, even a shared one, without blocking its CREATE INDEX CONCURRENTLY', async () => {
    const holder = await database.pool.connect();
    let isDone = false;
    const log: string[] = [];
    try {
      await holder.query('SELECT pg_advisory_lock_shared($1)', [MIGRATION_LOCK]);
      const waiting = migrate(database.url, (line) => log.push(line)).then(() => (isDone = true));
      const tries = new Set<number>();
      await until('the migration has tried to lock three times', async () => {
        const rows = await database.query<{ query_start: Date }>(
          `SELECT query_start FROM pg_stat_activity
           WHERE application_name = 'bakery-connection' AND datname = current_database() AND query LIKE '%advisory%'`,
        );
        for (const { query_start } of rows) tries.add(query_start.getTime());
        return isDone || tries.size >= 3;
      });
      await holder.query("SET statement_timeout = '10s'");
      await holder.query('CREATE INDEX CONCURRENTLY products_name_idx ON products (name)');
      expect(isDone).toBe(false);
      await holder.query('SELECT pg_advisory_unlock_shared($1)', [MIGRATION_LOCK]);
      await waiting;
      expect(log).toEqual(['waiting for another process that is changing the schema']);
    } finally {
      holder.release(true);
    }
  });
});
