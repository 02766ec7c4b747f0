import pg from 'pg';
import { DataSource, QueryFailedError, QueryRunnerProviderAlreadyReleasedError } from 'typeorm';
import { isDatabaseUnavailable } from '../src/common/database-errors.js';
import { createDatabase, type TestDatabase } from './support/databases.js';
import { until } from './support/wait.js';

/** As `pg` reports what the server said. */
function sqlError(code: string): pg.DatabaseError {
  const error = new pg.DatabaseError(`the server said ${code}`, 1, 'error');
  error.code = code;
  return error;
}

function networkError(code: string): Error {
  return Object.assign(new Error(`connect ${code} 127.0.0.1:5432`), { code });
}

async function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('an error that says that the database is away', () => {
  it.each(['08006', '53300', '57P01', '57014', '25006', '55P03', '40001'])(
    'a server that answers %s is away, too busy or in a change',
    (code) => {
      expect(isDatabaseUnavailable(sqlError(code))).toBe(true);
      expect(isDatabaseUnavailable(new QueryFailedError('SELECT 1', [], sqlError(code)))).toBe(true);
    },
  );

  it.each(['ECONNREFUSED', 'ETIMEDOUT', 'ENOTFOUND'])(
    'a server that cannot be reached (%s) is away',
    (code) => {
      expect(isDatabaseUnavailable(networkError(code))).toBe(true);
      expect(isDatabaseUnavailable(new AggregateError([networkError(code)]))).toBe(true);
    },
  );

  it.each([
    'Connection terminated: the database was silent for too long',
    'Client was closed and is not queryable',
    'Query read timeout',
    'timeout exceeded when trying to connect',
    'Driver not Connected',
  ])('the drivers’ "%s" says that the database is away', (message) => {
    expect(isDatabaseUnavailable(new Error(message))).toBe(true);
    expect(isDatabaseUnavailable(new QueryFailedError('SELECT 1', [], new Error(message)))).toBe(true);
  });

  it('an entity manager whose connection was taken away says the same', () => {
    expect(isDatabaseUnavailable(new QueryRunnerProviderAlreadyReleasedError())).toBe(true);
  });

  it.each<[string, unknown]>([
    ['a violated constraint', sqlError('23505')],
    ['a mistake in a statement', new QueryFailedError('SELECT 1', [], sqlError('42601'))],
    ['a mistake in the code', new TypeError("Cannot read properties of undefined (reading 'id')")],
    [
      'the same words of another service',
      new Error('the upload failed: connection terminated by the image host'),
    ],
    [
      'a failure of another service, which is always wrapped',
      new Error('fetch failed', { cause: networkError('ECONNREFUSED') }),
    ],
  ])('%s is not taken for its absence', (_, error) => {
    expect(isDatabaseUnavailable(error)).toBe(false);
  });
});

describe('the database that goes away in the middle is recognised', () => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeEach(async () => {
    database = await createDatabase();
    dataSource = new DataSource({
      type: 'postgres',
      url: database.url,
      poolSize: 1,
      poolErrorHandler: () => undefined,
    });
    await dataSource.initialize();
  });

  afterEach(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  async function endBackend(pid: number): Promise<void> {
    await database.pool.query('SELECT pg_terminate_backend($1, 5000)', [pid]);
  }

  it('of a transaction, between two statements', async () => {
    const error = await errorOf(
      dataSource.transaction(async (tx) => {
        const [row] = await tx.query<{ pid: number }[]>('SELECT pg_backend_pid() AS pid');
        await endBackend(row?.pid ?? 0);
        await until('TypeORM knows', () => tx.queryRunner?.isReleased);
        await tx.query('SELECT 1');
      }),
    );
    expect(error).toBeInstanceOf(Error);
    expect(isDatabaseUnavailable(error)).toBe(true);
  });

  it('of a statement', async () => {
    const sleeping = errorOf(dataSource.query('SELECT pg_sleep(60)'));
    await until('it runs', async () => {
      const { rows } = await database.pool.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(60)' AND datname = current_database()`,
      );
      if (rows[0] !== undefined) await endBackend(rows[0].pid);
      return rows[0];
    });
    expect(isDatabaseUnavailable(await sleeping)).toBe(true);
  });
});
