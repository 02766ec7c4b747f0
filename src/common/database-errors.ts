import { QueryFailedError } from 'typeorm';

/** Class 08 (connection exceptions) and the shutdown, overload and time-out codes of PostgreSQL, Appendix A. */
const UNAVAILABLE_SQLSTATE = /^(08...|57P0[1-5]|53...|57014|55P03|25P03|40001|40P01)$/;
const NETWORK_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
]);
/** What `pg` and TypeORM say, without a code, of a connection that is gone or not to be had in time. */
const CONNECTION_LOST =
  /connection terminated|timeout exceeded when trying to connect|not queryable|after calling end on the pool|query read timeout|driver not connected/i;

/**
 * Whether a failure means that the database is away, overloaded or too slow, so that the same request may
 * succeed later (503). Every other neighbour's network errors are wrapped before they get here.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  const cause: unknown = error instanceof QueryFailedError ? error.driverError : error;
  if (!(cause instanceof Error)) return false;
  if (cause instanceof AggregateError) return (cause.errors as unknown[]).some(isDatabaseUnavailable);
  const code = codeOf(cause);
  return (
    (code !== undefined && (UNAVAILABLE_SQLSTATE.test(code) || NETWORK_CODES.has(code))) ||
    CONNECTION_LOST.test(cause.message)
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
