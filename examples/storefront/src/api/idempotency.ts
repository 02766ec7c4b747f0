/**
 * Returns the same key for the same request until `forgetIdempotencyKey` is called, so that a second click, a reload or a
 * retry after a lost response does not repeat the action.
 *
 * @param name name of the entry in sessionStorage
 */
export function getIdempotencyKey(name: string, body: object) {
  const wanted = JSON.stringify(body);
  const [key, stored] = sessionStorage.getItem(name)?.split('\n') ?? [];
  if (key !== undefined && stored === wanted) return key;
  const newKey = crypto.randomUUID();
  sessionStorage.setItem(name, `${newKey}\n${wanted}`);
  return newKey;
}

export function forgetIdempotencyKey(name: string) {
  sessionStorage.removeItem(name);
}
