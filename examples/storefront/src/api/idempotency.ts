/**
 * Returns the stored key if the body is the same as before, otherwise stores and returns a new key. A second
 * click, a reload or a retry after a lost response therefore does not repeat the action.
 *
 * @param storage localStorage if all tabs share the key, otherwise sessionStorage
 * @param name name of the entry in the storage
 */
export function reuseOrCreateIdempotencyKey(storage: Storage, name: string, body: object) {
  const bodyText = JSON.stringify(body);
  // The entry has two lines: the key, and the body for which the key was created.
  const [storedKey, storedBody] = storage.getItem(name)?.split('\n') ?? [];
  if (storedKey !== undefined && storedBody === bodyText) return storedKey;
  const newKey = crypto.randomUUID();
  storage.setItem(name, `${newKey}\n${bodyText}`);
  return newKey;
}

/** Removes a key, unless another tab has already replaced it. */
export function forgetIdempotencyKey(storage: Storage, name: string, key: string) {
  if (storage.getItem(name)?.startsWith(key)) storage.removeItem(name);
}
