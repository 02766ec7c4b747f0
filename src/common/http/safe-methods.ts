/** Returns true for methods that change nothing (RFC 9110, 9.2.1), except TRACE, which no route supports. */
export function isSafeMethod(method: string): boolean {
  return ['GET', 'HEAD', 'OPTIONS'].includes(method);
}
