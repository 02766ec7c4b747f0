/**
 * Returns the stored key if the body is the same as before, otherwise stores and returns a new key. A second
 * click, a reload or a retry after a lost response therefore does not repeat the action.
 *
 * @param name name of the entry in sessionStorage
 */
export function reuseOrCreateIdempotencyKey(name: string, body: object) {
  const bodyText = JSON.stringify(body);
  // The entry has two lines: the key, and the body for which the key was created.
  const [storedKey, storedBody] = sessionStorage.getItem(name)?.split('\n') ?? [];
  if (storedKey !== undefined && storedBody === bodyText) return storedKey;
  const newKey = crypto.randomUUID();
  sessionStorage.setItem(name, `${newKey}\n${bodyText}`);
  return newKey;
}

export function forgetIdempotencyKey(name: string) {
  sessionStorage.removeItem(name);
}
