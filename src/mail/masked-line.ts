/** Matches an email address up to its @. The excluded characters delimit addresses in log lines and SMTP replies. */
const EMAIL = /([^\s<>@":;,])[^\s<>@":;,]*@/gu;

/** Puts a text on one line. Replaces each email address by its first letter and its domain: `a***@example.com`. */
export function toMaskedLine(text: string, maxLength: number): string {
  return text
    .slice(0, 4 * maxLength) // EMAIL takes quadratic time for a long text without an @.
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .replaceAll(EMAIL, '$1***@')
    .slice(0, maxLength)
    .replaceAll(/\p{Cs}/gu, ''); // halves of cut characters
}
