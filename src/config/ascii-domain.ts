import { Transform } from 'class-transformer';
import { domainToASCII } from 'node:url';

const ASCII = /^\p{ASCII}*$/u;
/** Without characters that `domainToASCII` changes: it cuts a domain at a slash, for example, and removes line breaks. */
const SAFE_DOMAIN = /^[\w.\-\P{ASCII}]*$/u;

/**
 * Writes the domain of an e-mail address in its ASCII form (IDNA). Otherwise `ayu@example\u3002com` and
 * `ayu@example.com` would be two accounts with one mailbox.
 * @returns an address without a domain, which no validation accepts, if the domain has no ASCII form
 */
export function withAsciiDomain(email: string): string {
  const start = email.lastIndexOf('@') + 1;
  const domain = email.slice(start);
  if (ASCII.test(domain)) return email;
  return email.slice(0, start) + (SAFE_DOMAIN.test(domain) ? domainToASCII(domain) : '');
}

export function ConvertDomainToAscii(): PropertyDecorator {
  return Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? withAsciiDomain(value) : value,
  );
}
