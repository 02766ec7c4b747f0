const EMAIL = /([^\s<>@"':;,])[^\s<>@"':;,]*@/g;

/** Replaces each email address in a text by its first letter and its domain: `a***@example.com`. */
export function maskEmails(text: string): string {
  return text.replaceAll(EMAIL, '$1***@');
}
