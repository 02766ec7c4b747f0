import {
  CannotExecuteNotConnectedError,
  ConnectionIsNotSetError,
  QueryFailedError,
  QueryRunnerAlreadyReleasedError,
  QueryRunnerProviderAlreadyReleasedError,
} from 'typeorm';

/**
 * SQLSTATEs of PostgreSQL, Appendix A, after which the same request may succeed: class 08 (connections), 53 (out of
 * connections, memory, disk), a server that starts, stops or restarts, is still a standby after a failover, or
 * gave up on a statement that took too long or met another one, and input or output that failed.
 */
const UNAVAILABLE_SQLSTATE = /^(08...|53...|57P0[1-5]|57014|25006|25P0[34]|55P03|40001|40003|40P01|58030)$/;
const NETWORK_CODE =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|E(HOST|NET)UNREACH|EADDRNOTAVAIL|ENOTFOUND|EAI_AGAIN)$/;
/** What `pg` 8, `pg-pool` 3 and TypeORM's driver say, without a code, when a connection broke or none is free. */
const CONNECTION_LOST =
  /^(connection terminated|timeout expired$|timeout exceeded when trying to connect|query read timeout|driver not connected|cannot use a pool after calling end)|not queryable$/i;
/**
 * What TypeORM says of a connection that broke between two statements of a transaction: it takes it from the
 * transaction, whose next statement finds none.
 */
const CONNECTION_TAKEN = [
  QueryRunnerAlreadyReleasedError,
  QueryRunnerProviderAlreadyReleasedError,
  CannotExecuteNotConnectedError,
  ConnectionIsNotSetError,
];

/**
 * Whether a failure means that the database is away, overloaded or too slow, so that the same request may
 * succeed later (503). Network errors of other services are wrapped before they get here, so the
 * `cause` of a failure is not looked at.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  const failure: unknown = error instanceof QueryFailedError ? error.driverError : error;
  if (!(failure instanceof Error)) return false;
  // A host name with several addresses fails with one error for each.
  if (failure instanceof AggregateError) return (failure.errors as unknown[]).some(isDatabaseUnavailable);
  const code = codeOf(failure);
  return (
    (code !== undefined && (UNAVAILABLE_SQLSTATE.test(code) || NETWORK_CODE.test(code))) ||
    CONNECTION_LOST.test(failure.message) ||
    CONNECTION_TAKEN.some((kind) => failure instanceof kind)
  );
}

/** The name of the constraint that a statement violated (SQLSTATE class 23), if that is what failed. */
export function violatedConstraint(error: unknown): string | undefined {
  if (!(error instanceof QueryFailedError)) return undefined;
  const driverError = error.driverError as Error & { readonly constraint?: unknown };
  if (codeOf(driverError)?.startsWith('23') !== true) return undefined;
  return typeof driverError.constraint === 'string' ? driverError.constraint : undefined;
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
