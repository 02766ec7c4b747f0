/**
 * Returns the stored key if the body is the same as before, otherwise stores and returns a new key. A second click, a reload, a
 * retry after a lost response or another tab therefore does not repeat the action.
 *
 * @param name name of the entry in localStorage
 */
export function reuseOrCreateIdempotencyKey(name: string, body: object) {
  const bodyText = JSON.stringify(body);
  // The entry has two lines: the key, and the body for which the key was created.
  const [storedKey, storedBody] = localStorage.getItem(name)?.split('\n') ?? [];
  if (storedKey !== undefined && storedBody === bodyText) return storedKey;
  const newKey = crypto.randomUUID();
  localStorage.setItem(name, `${newKey}\n${bodyText}`);
  return newKey;
}

/** Removes a key, unless another tab has already replaced it. */
export function forgetIdempotencyKey(name: string, key: string) {
  if (localStorage.getItem(name)?.startsWith(key)) localStorage.removeItem(name);
}
