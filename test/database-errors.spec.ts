import pg from 'pg';
import { QueryFailedError, QueryRunnerProviderAlreadyReleasedError } from 'typeorm';
import { isDatabaseUnavailable } from '../src/common/errors/database-errors.js';

/** Creates an error of the server as `pg` reports it. */
function sqlError(code: string): pg.DatabaseError {
  const error = new pg.DatabaseError(`the server said ${code}`, 1, 'error');
  error.code = code;
  return error;
}

function networkError(code: string): Error {
  return Object.assign(new Error(`connect ${code} 127.0.0.1:5432`), { code });
}

describe('an error of an unavailable database', () => {
  it.each(['08006', '53300', '57P01', '57014', '25006', '55P03', '40001'])(
    'is recognized by the SQLSTATE %s',
    (code) => {
      expect(isDatabaseUnavailable(sqlError(code))).toBe(true);
      expect(isDatabaseUnavailable(new QueryFailedError('SELECT 1', [], sqlError(code)))).toBe(true);
    },
  );

  it.each(['ECONNREFUSED', 'ETIMEDOUT', 'ENOTFOUND'])('is recognized by the network error %s', (code) => {
    expect(isDatabaseUnavailable(networkError(code))).toBe(true);
    expect(isDatabaseUnavailable(new AggregateError([networkError(code)]))).toBe(true);
  });

  it.each([
    'Connection terminated unexpectedly',
    'Client was closed and is not queryable',
    'Query read timeout',
    'timeout exceeded when trying to connect',
    'Driver not Connected',
  ])('is recognized by the driver’s message "%s"', (message) => {
    expect(isDatabaseUnavailable(new Error(message))).toBe(true);
    expect(isDatabaseUnavailable(new QueryFailedError('SELECT 1', [], new Error(message)))).toBe(true);
  });

  it('is recognized when an entity manager has lost its connection', () => {
    expect(isDatabaseUnavailable(new QueryRunnerProviderAlreadyReleasedError())).toBe(true);
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
