/** Returns the code of an error, such as `ENOENT` or a SQLSTATE; undefined if the error has none. */
export function errorCode(error: unknown): string | undefined {
  // `instanceof Error` is false under Jest for errors of Node's own modules, which belong to another realm.
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
