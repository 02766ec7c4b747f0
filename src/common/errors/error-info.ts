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
