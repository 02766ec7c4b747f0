import { randomUUID } from 'node:crypto';
import { Client } from '../support/client.js';
import { createEmptyDatabase } from '../support/databases.js';
import { describeInstalled } from '../support/installed.js';
import { readJobs } from '../support/jobs.js';
import { startPgBouncer } from '../support/pgbouncer.js';
import { inParallel, until } from '../support/wait.js';
import { createDeployment } from './support/deployment.js';

const PROCESSES = 4;

const database = await createEmptyDatabase();
const { external, instances } = await createDeployment(PROCESSES);

describeInstalled('processes that share one database', ['pgbouncer'], () => {
  beforeAll(async () => {
    const pooler = await startPgBouncer(database.url);
    // Every second process connects through PgBouncer in transaction mode.
    const databaseUrls = [database.url, pooler.through(database.url)];
    await Promise.all(
      instances.map((instance, index) =>
        instance.start({ ...external.settings, DATABASE_URL: databaseUrls[index % 2] ?? '' }),
      ),
    );
  });

  afterAll(async () => {
    const exitCodes = await Promise.all(instances.map((instance) => instance.stop()));
    expect(exitCodes).toEqual(instances.map(() => [0]));
  });

  /** @param from text that follows FROM: a table with an optional condition, or a subquery */
  async function countRows(from: string): Promise<number> {
    const rows = await database.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${from}`);
    return rows[0]?.count ?? -1;
  }

  it('run each migration once and create one administrator if they start in parallel on a new database', async () => {
    const repeated = '(SELECT name FROM migrations GROUP BY name HAVING count(*) > 1) AS repeated';
    expect(await countRows(repeated)).toBe(0);
    expect(await countRows('migrations')).toBeGreaterThan(3);
    expect(await countRows("users WHERE role = 'ADMIN'")).toBe(1);
  });

  it('send exactly one mail to each new account, whichever process registered it', async () => {
    const emails = await inParallel(40, async (n) => {
      const email = `${randomUUID()}@example.com`;
      await new Client(instances[n % PROCESSES]?.url ?? '').register({ email }).expect(201);
      return email;
    });
    await until('an empty queue', async () => (await readJobs(database.pool)).length === 0, 120_000);
    expect(external.smtp.mails.flatMap(({ to }) => to).toSorted()).toEqual(emails.toSorted());
  });
});
