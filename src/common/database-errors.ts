import {
  CannotExecuteNotConnectedError,
  ConnectionIsNotSetError,
  QueryFailedError,
  QueryRunnerAlreadyReleasedError,
  QueryRunnerProviderAlreadyReleasedError,
} from 'typeorm';

/**
 * SQLSTATEs (PostgreSQL, Appendix A) of connections (08), of connections, memory or disk that ran out (53), of a server
 * that starts, stops or is a standby, of statements that took too long or met another one, and of failed I/O.
 */
const UNAVAILABLE_SQLSTATE = /^(08...|53...|57P0[1-5]|57014|25006|25P0[34]|55P03|40001|40003|40P01|58030)$/;
const NETWORK_CODE =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|E(HOST|NET)UNREACH|EADDRNOTAVAIL|ENOTFOUND|EAI_AGAIN)$/;
/** What `pg` 8, `pg-pool` 3 and TypeORM's driver say, without a code, when a connection broke or none is free. */
const CONNECTION_LOST =
  /^(connection terminated|timeout expired$|timeout exceeded when trying to connect|query read timeout|driver not connected|cannot use a pool after calling end)|not queryable$/i;
/** What TypeORM says of the next statement when a connection broke between two statements of a transaction. */
const CONNECTION_TAKEN = [
  QueryRunnerAlreadyReleasedError,
  QueryRunnerProviderAlreadyReleasedError,
  CannotExecuteNotConnectedError,
  ConnectionIsNotSetError,
];

/**
 * Whether a failure means that the database is away, overloaded or too slow, so that the same request may succeed later
 * (503). The `cause` is not looked at: failures of other services are wrapped.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  const failure: unknown = error instanceof QueryFailedError ? error.driverError : error;
  if (!(failure instanceof Error)) return false;
  // A host name with several addresses fails with one error for each.
  if (failure instanceof AggregateError) return (failure.errors as unknown[]).some(isDatabaseUnavailable);
  const code = 'code' in failure ? String(failure.code) : '';
  return (
    UNAVAILABLE_SQLSTATE.test(code) ||
    NETWORK_CODE.test(code) ||
    CONNECTION_LOST.test(failure.message) ||
    CONNECTION_TAKEN.some((kind) => failure instanceof kind)
  );
}

/** The name of the constraint that a statement violated, if that is what failed. */
export function violatedConstraint(error: unknown): string | undefined {
  if (!(error instanceof QueryFailedError)) return undefined;
  return (error.driverError as Error & { readonly constraint?: string }).constraint;
}
