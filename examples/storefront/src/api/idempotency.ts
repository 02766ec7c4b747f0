/**
 * Returns the stored key if the request is the same as before, otherwise stores a new key. So a second click, a reload
 * or a retry after a lost response does not repeat the action.
 *
 * @param name name of the entry in sessionStorage
 */
export function getIdempotencyKey(name: string, body: object) {
  const request = JSON.stringify(body);
  const [key, keyRequest] = sessionStorage.getItem(name)?.split('\n') ?? [];
  if (key !== undefined && keyRequest === request) return key;
  const newKey = crypto.randomUUID();
  sessionStorage.setItem(name, `${newKey}\n${request}`);
  return newKey;
}

export function forgetIdempotencyKey(name: string) {
  sessionStorage.removeItem(name);
}
