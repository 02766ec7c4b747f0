/** Lost connections, exhausted resources, a server that starts, stops or is a standby, timeouts, conflicts, failed I/O. */
const UNAVAILABLE_SQLSTATE = /^(08...|53...|57P0[1-5]|57014|25006|25P0[34]|55P03|40001|40003|40P01|58030)$/;
const NETWORK_CODE =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|E(HOST|NET)UNREACH|EADDRNOTAVAIL|ENOTFOUND|EAI_AGAIN)$/;
/** Messages of `pg` 8, `pg-pool` 3 and TypeORM's driver for lost or unresponsive connections. These errors have no code. */
const CONNECTION_LOST =
  /^(connection terminated|timeout expired$|timeout exceeded when trying to connect|query read timeout|driver not connected|cannot use a pool after calling end)|not queryable$/i;
/** Names of TypeORM's errors for a statement of a transaction that has lost its connection. */
const RUNNER_RELEASED = /^QueryRunner(Provider)?AlreadyReleasedError$/;

/** Returns the code of an error, such as `ENOENT` or a SQLSTATE; undefined if the error has none. */
export function errorCode(error: unknown): string | undefined {
  // Not `instanceof Error`: under Jest, errors of Node's own modules belong to another realm.
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

export function errorMessage(error: unknown): string {
  // Node's error for a host with several addresses has no message, but an error for each address.
  if (error instanceof AggregateError && error.message === '')
    return error.errors.map(errorMessage).join('; ');
  return error instanceof Error ? error.message : String(error); // Under Jest, the text may start with `Error: `.
}

/**
 * Returns true if an error means that the database is unavailable, so that a retry may succeed. Ignores the `cause`, which may
 * come from another service.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  const original = toDriverError(error);
  // A host name with several addresses fails with one error for each.
  if (original instanceof AggregateError) return (original.errors as unknown[]).some(isDatabaseUnavailable);
  const code = errorCode(original) ?? '';
  if (UNAVAILABLE_SQLSTATE.test(code) || NETWORK_CODE.test(code)) return true;
  if (!(original instanceof Error)) return false;
  return CONNECTION_LOST.test(original.message) || RUNNER_RELEASED.test(original.name);
}

/** Returns the name of the constraint that a statement violated; undefined for any other error. */
export function violatedConstraint(error: unknown): string | undefined {
  const original = toDriverError(error) as { readonly constraint?: string } | null | undefined;
  return original?.constraint;
}

/** Returns the error of the driver that TypeORM's QueryFailedError contains; any other error unchanged. */
function toDriverError(error: unknown): unknown {
  return error instanceof Error && 'driverError' in error ? error.driverError : error;
}
