import { Transform } from 'class-transformer';
import { domainToASCII } from 'node:url';

/** `domainToASCII` takes seconds for a domain of 100 KB. The length of an address with such a domain is rejected later. */
const MAX_DOMAIN_LENGTH = 254;
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
  if (domain.length > MAX_DOMAIN_LENGTH || ASCII.test(domain)) return email;
  return email.slice(0, start) + (SAFE_DOMAIN.test(domain) ? domainToASCII(domain) : '');
}

export function ConvertDomainToAscii(): PropertyDecorator {
  return Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? withAsciiDomain(value) : value,
  );
}
