import { importBuilt } from './support/built.js';
import { useServiceBehindProxy } from './support/database-proxy.js';
import { createDatabase } from './support/databases.js';
import { expectFailure } from './support/failure.js';
import { addJob } from './support/jobs.js';
import { waitUntilReady } from './support/process.js';
import { until } from './support/wait.js';

const service = await useServiceBehindProxy();
const live = () => service.client().get('/api/health/live');
const ready = () => service.client().get('/api/health/ready');

/** Makes the database read-only or writable. Closes the service's connections: the setting applies only to new ones. */
async function setReadOnly(state: 'on' | 'off'): Promise<void> {
  const { query, url } = service.database;
  const name = new URL(url).pathname.slice(1);
  // The connection may be read-only, because the test opened it while the database was read-only.
  await query(
    `BEGIN READ WRITE; ALTER DATABASE ${name} SET default_transaction_read_only = ${state}; COMMIT`,
  );
  await service.proxy.down();
  await service.proxy.up();
}

it('a service is alive, and ready unless a migration is pending (contract 16.1)', async () => {
  await waitUntilReady(service.url);
  const toggle = 'UPDATE migrations SET name = reverse(name) WHERE id = (SELECT max(id) FROM migrations)';
  await service.database.query(toggle); // Now the table lacks the migration's real name.
  expectFailure(await ready(), 503, 'the service is not ready: migrations');
  await live().expect(200, { status: 'success', data: {} });
  await service.database.query(toggle);
  await ready().expect(200, { status: 'success', data: {} });
});

it('a service whose database does not respond is not ready, and says so after two seconds', async () => {
  service.proxy.stall();
  await ready().expect(503);
  const lines = service.log.map(({ msg }) => String(msg));
  expect(lines.join('\n')).toContain('not ready: database (no response within 2000 ms)');
  await service.proxy.down();
  await service.proxy.up();
  await waitUntilReady(service.url);
});

it.each([
  [
    'cannot be reached',
    () => service.proxy.down(),
    () => service.proxy.up(),
    'connect ECONNREFUSED 127.0.0.1:',
  ],
  ['is read-only', () => setReadOnly('on'), () => setReadOnly('off'), 'the server is read-only or a standby'],
])(
  'a service whose database %s is alive, but not ready until the database is back',
  async (_what, breakDatabase, repair, reason) => {
    await breakDatabase();
    await until('database and queue fail', async () => {
      const { status, text } = await ready();
      return status === 503 && text.includes('the service is not ready: database, queue');
    });
    await live().expect(200);
    const line = service.log.findLast(({ msg }) => String(msg).startsWith(`not ready: database (${reason}`));
    expect(line).toMatchObject({
      level: 'warn',
      msg: expect.stringContaining('queue (it fetches no jobs') as string,
    });
    expect(line).not.toHaveProperty('err'); // The stack of the error would repeat the message.
    await repair();
    await waitUntilReady(service.url);
  },
);

it('the log contains one line for each stop of the queue and one line for each recovery', async () => {
  await waitUntilReady(service.url);
  const linesBefore = service.log.length;
  for (let outage = 0; outage < 2; outage += 1) {
    await setReadOnly('on');
    const chunkCount = service.proxy.statementChunks.length;
    // A start of the queue sends a few statements, so 20 mean several starts.
    await until(
      'the queue has restarted several times',
      () => service.proxy.statementChunks.length > chunkCount + 20,
    );
    await setReadOnly('off');
    await waitUntilReady(service.url);
  }
  const stop = expect.stringMatching(/^the queue stopped and restarts until it works: /) as string;
  const recovery = expect.stringMatching(/^the queue works again after \d+ s$/) as string;
  const lines = service.log.slice(linesBefore).map(({ msg }) => String(msg));
  expect(lines.filter((line) => line.startsWith('the queue'))).toEqual([stop, recovery, stop, recovery]);
});

it('an idle process sends at most 2 statements a second to the database', async () => {
  await waitUntilReady(service.url);
  // The start and the jobs of a full minute need more statements, so the first calm 3 seconds count.
  let [countBefore, startedAt] = [service.proxy.statementChunks.length, performance.now()];
  await until('3 seconds with at most 6 statements have passed', () => {
    if (service.proxy.statementChunks.length > countBefore + 6)
      [countBefore, startedAt] = [service.proxy.statementChunks.length, performance.now()];
    return performance.now() - startedAt >= 3_000;
  });
});

it('the watch over the job runner wakes workers only for jobs that can run, and at most as many of each priority as there are workers', async () => {
  const { pool } = await createDatabase();
  for (let n = 0; n < 20; n += 1) {
    await addJob(pool, 'test-task', { key: null, dueInS: 3_600 });
    await addJob(pool, 'test-task', { key: null, priority: 10 });
  }
  await addJob(pool, 'test-task');
  const { watchQueue } = await importBuilt('src/jobs/watch-queue.js');
  const stop = new AbortController();
  const wakeCounts: number[] = [];
  const wake = (count: number): void => {
    wakeCounts.push(count);
    stop.abort();
  };
  await watchQueue(pool, wake, stop.signal);
  expect(wakeCounts).toEqual([11]);
});
