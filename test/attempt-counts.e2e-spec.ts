import { importBuilt } from './support/built.js';
import { beginTransaction, waitForLock } from './support/databases.js';
import { addJob, readJobs } from './support/jobs.js';
import { useService } from './support/service.js';
import { until } from './support/wait.js';

const HOUR_S = 3600;
const GUESS = { user: { id: 1 }, email: 'ayu@example.com', client: { clientAddress: '203.0.113.9' } };

const service = await useService();
const { LimitsService } = await importBuilt('src/auth/limits.service.js');
const { AttemptCounts } = await importBuilt('src/auth/attempt-counts.js');
const limits = service.app.get(LimitsService);
const counts = service.app.get(AttemptCounts);

const wrong = () => Promise.resolve(false);

beforeEach(() => service.clearCounts());

it('a password that a limit rejects is not checked', async () => {
  await limits.checkPassword(GUESS, wrong);
  await service.setCounts('wrongPasswordsOfPair', 50);
  const check = () => Promise.reject(new Error('it was checked'));
  expect(await limits.checkPassword(GUESS, check)).toBe(false);
});

it.each([
  ['expire', () => service.ageCounts(HOUR_S)],
  ['are deleted', () => service.clearCounts()],
])('counts that %s during the check of a correct password are not stored again', async (_what, change) => {
  await limits.checkPassword(GUESS, async () => {
    await change();
    return true;
  });
  expect(await service.readCounts()).toEqual({ knownAddresses: 1 });
});

it.each(['delete', 'takeBack'] as const)(
  '%s locks counts in the order of their keys, so that parallel statements cannot deadlock',
  async (method) => {
    const limit = { name: 'test', max: 1, seconds: HOUR_S };
    const [first, second] = [
      { ...limit, key: 'a' },
      { ...limit, key: 'b' },
    ] as const;
    // Without an order, a statement locks rows in the order in which they were inserted.
    for (const counter of [second, first]) await counts.add([counter]);
    const lock = (key: string) => `SELECT FROM attempt_counts WHERE key = '${key}' FOR UPDATE NOWAIT`;
    const holder = await beginTransaction(service.database, lock(first.key));
    const ended = counts[method]([second, first]);
    await waitForLock(service.database);
    await holder.query(lock(second.key));
    await holder.commit();
    await ended;
  },
);

it('a repeated job deletes expired counts in batches, and keeps the others', async () => {
  await limits.checkPassword(GUESS, wrong);
  const [counted, rows] = [await service.readCounts(), await service.countRows()];
  expect(rows).toBeGreaterThan(0);
  await service.database.query(
    `INSERT INTO attempt_counts (key, points, expire) SELECT 'expired:' || n, 1, 1 FROM generate_series(1, 25000) AS n`,
  );
  const { pool } = service.database;
  await addJob(pool, 'sweep-attempt-counts');
  await until('the job has ended', async () => (await readJobs(pool, 'sweep-attempt-counts')).length === 0);
  expect(await service.countRows()).toBe(rows);
  expect(await service.readCounts()).toEqual(counted);
});
