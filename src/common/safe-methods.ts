const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Returns true for methods that change nothing (RFC 9110, 9.2.1). */
export function isSafeMethod(method: string): boolean {
  return SAFE_METHODS.has(method);
}
