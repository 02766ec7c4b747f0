import { domainToASCII } from 'node:url';
import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsEmail, Matches } from 'class-validator';
import { Text } from './text.decorator.js';

/** Limit for conversion, because `domainToASCII` takes seconds for 100 KB. `Text` rejects longer addresses. */
const MAX_DOMAIN_LENGTH = 254;
const ASCII = /^\p{ASCII}*$/u;
/** Excludes ASCII characters at which `domainToASCII` cuts a domain (a slash) or which it drops (a line break). */
const SAFE_DOMAIN = /^[\w.\-\P{ASCII}]*$/u;
/**
 * An address without quotes, because `"ayu"@example.com` and `ayu@example.com` are one mailbox, and without characters that can
 * disguise it: spaces, line separators, invisible characters, direction marks, and the full-width signs `＜`, `＞` and `＠`.
 */
const UNDISGUISED = /^[^"\p{Z}\p{Default_Ignorable_Code_Point}＜＞＠]*$/u;

/** Trims, converts and validates the email address of an account. */
export function EmailAddress(): PropertyDecorator {
  return applyDecorators(
    // class-transformer runs the last transformation first, so the domain is converted after `Text` has trimmed the address.
    ConvertDomainToAscii(),
    Text({ maxLength: 254, example: 'ayu@example.com' }),
    ApiProperty({ format: 'email' }),
    IsUndisguisedEmail({ message: 'your email format is invalid' }),
  );
}

/** Requires the email address of an account, trimmed and with an ASCII domain. */
export function IsUndisguisedEmail(options: { readonly message: string }): PropertyDecorator {
  return applyDecorators(Matches(UNDISGUISED, options), IsEmail({}, options));
}

/**
 * Converts the domain of an email address to its ASCII form (IDNA). Otherwise `ayu@example\u3002com` and
 * `ayu@example.com` would be two accounts with one mailbox.
 * @returns the address, unchanged if it has no @, or if its domain is ASCII already or too long. If the domain has no ASCII
 *   form: the address without a domain, which no validation accepts
 */
export function withAsciiDomain(email: string): string {
  const start = email.lastIndexOf('@') + 1;
  const domain = email.slice(start);
  if (start === 0 || domain.length > MAX_DOMAIN_LENGTH || ASCII.test(domain)) return email;
  return email.slice(0, start) + (SAFE_DOMAIN.test(domain) ? domainToASCII(domain) : '');
}

export function ConvertDomainToAscii(): PropertyDecorator {
  return Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? withAsciiDomain(value) : value,
  );
}
