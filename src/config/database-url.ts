/**
 * Replaces a weaker `sslmode` with `verify-full`. The driver already treats `prefer`, `require` and `verify-ca` like
 * `verify-full`, but prints a security warning at every start because its next version will not. The URL class is not
 * used here because it would also change the encoding of the password.
 */
export function withVerifiedTls(url: string): string {
  if (/[?&]uselibpqcompat=true(&|#|$)/.test(url)) return url;
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|#|$)/g, '$1verify-full');
}
