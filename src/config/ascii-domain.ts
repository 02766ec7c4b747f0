import { Transform } from 'class-transformer';
import { domainToASCII } from 'node:url';

const ASCII = /^\p{ASCII}*$/u;
/** Excludes ASCII characters at which `domainToASCII` cuts a domain (a slash) or which it drops (a line break). */
const SAFE_DOMAIN = /^[\w.\-\P{ASCII}]*$/u;

/**
 * Converts the domain of an e-mail address to its ASCII form (IDNA). Otherwise `ayu@example\u3002com` and
 * `ayu@example.com` would be two accounts with one mailbox.
 * @returns the address; if its domain has no ASCII form, the address without a domain, which no validation accepts
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
