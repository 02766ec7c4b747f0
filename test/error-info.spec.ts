import pg from 'pg';
import { QueryFailedError, QueryRunnerProviderAlreadyReleasedError } from 'typeorm';
import { isDatabaseUnavailable } from '../src/common/errors/error-info.js';

/** Creates an error of the server as `pg` reports it. */
function sqlError(code: string): pg.DatabaseError {
  const error = new pg.DatabaseError(`the server said ${code}`, 1, 'error');
  error.code = code;
  return error;
}

function networkError(code: string): Error {
  return Object.assign(new Error(`connect ${code} 127.0.0.1:5432`), { code });
}

/** Returns the error of a statement on a closed connection or pool. */
async function queryAfterEnd(closed: pg.Client | pg.Pool): Promise<Error> {
  await closed.end();
  return closed.query('SELECT 1').then(
    () => new Error('the statement succeeded'),
    (error: unknown) => error as Error,
  );
}

const errorsAfterEnd = [await queryAfterEnd(new pg.Client()), await queryAfterEnd(new pg.Pool())];

describe('an error of an unavailable database', () => {
  it.each([
    ...['08006', '53300', '57P01', '57014', '25006', '55P03', '40001'].map(sqlError),
    ...['ECONNREFUSED', 'ETIMEDOUT', 'ENOTFOUND'].map(networkError),
    ...errorsAfterEnd,
    ...['Connection terminated unexpectedly', 'Driver not Connected'].map((message) => new Error(message)),
    new QueryRunnerProviderAlreadyReleasedError(),
  ])('is recognized, also in an error of TypeORM or in an AggregateError: %s', (error) => {
    for (const reported of [error, new QueryFailedError('SELECT 1', [], error), new AggregateError([error])])
      expect(isDatabaseUnavailable(reported)).toBe(true);
  });

  it.each<[string, unknown]>([
    ['a violated constraint', sqlError('23505')],
    ['a mistake in a statement', new QueryFailedError('SELECT 1', [], sqlError('42601'))],
    ['a mistake in the code', new TypeError("Cannot read properties of undefined (reading 'id')")],
    ['a similar message of another service', new Error('upload failed: connection terminated by the host')],
    ['a wrapped failure of another service', new Error('failed', { cause: networkError('ECONNREFUSED') })],
  ])('is not confused with %s', (_, error) => {
    expect(isDatabaseUnavailable(error)).toBe(false);
  });
});
