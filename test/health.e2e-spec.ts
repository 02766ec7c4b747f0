import { createDatabase, type TestDatabase } from './support/databases.js';
import { DatabaseProxy } from './support/database-proxy.js';
import { expectFailure } from './support/failure.js';
import { startService, type TestService } from './support/service.js';
import { until } from './support/wait.js';

describe('health', () => {
  let database: TestDatabase;
  let proxy: DatabaseProxy;
  let service: TestService;

  beforeAll(async () => {
    database = await createDatabase();
    proxy = await DatabaseProxy.start(database.url);
    service = await startService({ database, databaseUrl: proxy.url });
  });

  afterAll(async () => {
    await service.stop();
    await proxy.down();
    await database.drop();
  });

  const ready = () => service.client().get('/api/health/ready');
  const becomesReady = () => until('the service is ready', async () => (await ready()).status === 200);

  it('a service that can work is alive and ready (contract 16.1)', async () => {
    await service.client().get('/api/health/live').expect(200, { status: 'success', data: {} });
    await becomesReady();
    await ready().expect(200, { status: 'success', data: {} });
  });

  it('a service with a migration that has not run is not ready, and says so', async () => {
    const { rows } = await database.pool.query<{ id: number; timestamp: string; name: string }>(
      'DELETE FROM migrations WHERE id = (SELECT max(id) FROM migrations) RETURNING *',
    );
    expectFailure(await ready(), 503, 'the service is not ready: migrations');
    await service.client().get('/api/health/live').expect(200);
    for (const { id, timestamp, name } of rows) {
      await database.pool.query('INSERT INTO migrations VALUES ($1, $2, $3)', [id, timestamp, name]);
    }
    await ready().expect(200);
  });

  it('without its database a service is alive and not ready; it is ready again when the database is back', async () => {
    await proxy.down();
    await until('the queue noticed too', async () => {
      const { status, text } = await ready();
      return status === 503 && text.includes('the service is not ready: database, queue');
    });
    const line = service.log.findLast(({ msg }) => String(msg).startsWith('not ready: database ('));
    expect(line).toMatchObject({
      level: 'warn',
      msg: expect.stringContaining('queue (it takes no jobs') as string,
    });
    expect(line).not.toHaveProperty('err');
    await service.client().get('/api/health/live').expect(200);
    await proxy.up();
    await becomesReady();
  });
});
