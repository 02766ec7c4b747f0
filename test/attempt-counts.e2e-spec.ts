import { setTimeout as delay } from 'node:timers/promises';
import { importBuilt } from './support/built.js';
import { beginTransaction, waitForLock } from './support/databases.js';
import { addJob, readJobs } from './support/jobs.js';
import { measureMs } from './support/measure.js';
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

/** Checks a password like `AuthService`. */
async function guessPassword(instance: typeof limits, check: () => Promise<boolean>): Promise<void> {
  if ((await instance.checkPassword(GUESS, check)) === 'slowed') await instance.waitLikeCheck();
}

beforeEach(() => service.clearCounts());

describe('a password that a limit rejects', () => {
  beforeEach(async () => {
    await limits.checkPassword(GUESS, wrong);
    await service.setCounts('wrongPasswordsOfPair', 50);
  });

  it('is not checked, but takes as long as the latest check of another password', async () => {
    const checkMs = 200;
    await limits.checkPassword({ ...GUESS, user: { id: 2 } }, () => delay(checkMs, false));
    const check = () => Promise.reject(new Error('it was checked'));
    expect(await measureMs(() => guessPassword(limits, check))).toBeGreaterThan(checkMs * 0.9);
  });

  it('takes as long as a check, even if it is the first password of a process', async () => {
    const { verifyPassword } = await importBuilt('src/auth/passwords.js');
    const check = () => verifyPassword('', undefined);
    const { app } = await useService({ database: service.database });
    const rejectionMs = await measureMs(() => guessPassword(app.get(LimitsService), wrong));
    const checksMs = [await measureMs(check), await measureMs(check), await measureMs(check)];
    expect(rejectionMs).toBeGreaterThan(Math.min(...checksMs) * 0.5);
  });
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

it('an index finds expired counts without reading the whole table', async () => {
  const sql = "SELECT FROM pg_indexes WHERE tablename = 'attempt_counts' AND indexdef LIKE '%(expire)'";
  expect(await service.database.query(sql)).toHaveLength(1);
});

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
