import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../dist/src/database/embedded-postgres.js';
import { migrate } from '../../dist/src/database/migrate.js';

/**
 * Starts one real PostgreSQL for the whole run. Tests use copies of the migrated template database. The server settings
 * trade durability and maintenance for speed, because the data need not outlive the run.
 */
export default async function setUp() {
  const dataDir = await mkdtemp(join(tmpdir(), 'bakery-tests-'));
  // If the tests run as root, the server runs as another user, who must be able to enter the folder.
  await chmod(dataDir, 0o755);
  const postgres = await startEmbeddedPostgres({
    dataDir,
    log: () => {},
    serverSettings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', autovacuum: 'off' },
  });
  globalThis.testPostgres = { postgres, dataDir };

  const template = `template_${randomBytes(4).toString('hex')}`;
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(`CREATE DATABASE ${template}`);
  await client.end();
  const templateUrl = new URL(postgres.url);
  templateUrl.pathname = `/${template}`;
  await migrate(templateUrl.href);
  process.env.TEST_POSTGRES_URL = postgres.url;
  process.env.TEST_TEMPLATE_DATABASE = template;
}
