import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { isEmail, IsIn, isIP, Max, Min, ValidateBy } from 'class-validator';
import { parseCloudinaryUrl } from './cloudinary-url.js';

// Validation decorators for environment variables. The start prints the name and the message of each invalid variable.
// A message never contains the value, which may be a secret.

/** Validates a text: `findProblem` returns the message for a bad text. `String` joins a list that `IsOriginList` split. */
function ValidateText(findProblem: (value: string) => string | undefined): PropertyDecorator {
  return ValidateBy({
    name: 'text',
    validator: {
      validate: (value) => findProblem(String(value)) === undefined,
      defaultMessage: (args) => findProblem(String(args?.value)) ?? '',
    },
  });
}

export function IsOneOf(...values: readonly string[]): PropertyDecorator {
  return IsIn(values, { message: `must be one of ${values.join(', ')}` });
}

export function IsWholeNumber(minimum: number, maximum: number): PropertyDecorator {
  const message = `must be a whole number from ${minimum} to ${maximum}`;
  // Number() alone would also accept 0x50, 1e3 and 1.0.
  const parse = Transform(({ value }) => (/^\d{1,9}$/.test(String(value)) ? Number(value) : NaN));
  return applyDecorators(parse, Min(minimum, { message }), Max(maximum, { message }));
}

export function IsUrl(...schemes: readonly string[]): PropertyDecorator {
  return ValidateText((value) => findUrlProblem(value, schemes) ?? findMissingHost(value));
}

/** Requires the base address of a service and removes its trailing slash, because paths are appended. */
export function IsHttpAddress(): PropertyDecorator {
  const removeTrailingSlash = Transform(({ value }) => String(value).replace(/\/+$/, ''));
  const validate = ValidateText((value) => {
    if (/[@?#]/.test(value)) return 'must be an address without user name, query and fragment';
    return findUrlProblem(value, ['http', 'https']);
  });
  return applyDecorators(removeTrailingSlash, validate);
}

export function IsDatabaseUrl(): PropertyDecorator {
  const validate = ValidateText((value) => {
    const [, host = ''] = /^\w+:\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(value) ?? [];
    const [, hostParameter = ''] = /[?&]host=([^&#]*)/.exec(value) ?? [];
    // The driver supports one host. Only clients of libpq accept a list and find the primary.
    if (/,|%2c/i.test(host + hostParameter))
      return 'names several hosts; name one, such as a proxy in front of the cluster';
    return findUrlProblem(value, ['postgres', 'postgresql']);
  });
  const verifyTls = Transform(({ value }) => withVerifiedTls(String(value)));
  return applyDecorators(verifyTls, validate);
}

/**
 * Replaces the `sslmode` values `prefer`, `require` and `verify-ca` with `verify-full`. The driver already treats them like
 * `verify-full`, but prints a security warning. Does not use `URL`, which would encode the password differently.
 */
function withVerifiedTls(url: string): string {
  // The operator has chosen libpq's meaning of `sslmode`.
  if (/[?&]uselibpqcompat=true(&|#|$)/.test(url)) return url;
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|#|$)/g, '$1verify-full');
}

function findUrlProblem(value: string, schemes: readonly string[]): string | undefined {
  const prefixes = schemes.map((scheme) => `${scheme}://`);
  const hasScheme = prefixes.some((prefix) => value.toLowerCase().startsWith(prefix));
  if (!URL.canParse(value) || !hasScheme) return `must be a URL that begins with ${prefixes.join(' or ')}`;
  if (/%(?![\da-f]{2})/i.test(value)) return 'must be a URL, in which a % is written as %25';
  return undefined;
}

function findMissingHost(url: string): string | undefined {
  return new URL(url).hostname === '' ? 'must be a URL with a host' : undefined;
}

export function IsCloudinaryUrl(): PropertyDecorator {
  return ValidateText((value) => {
    try {
      parseCloudinaryUrl(value);
      return undefined;
    } catch {
      return 'must look like cloudinary://key:secret@cloud, and its query parameters must be valid';
    }
  });
}

/** Requires `Name <address>` or an address. The domain may be local, such as `localhost`. */
export function IsSender(): PropertyDecorator {
  return ValidateText((value) => {
    const [, address = value] = /^[^<>]*<([^<>]+)>$/.exec(value) ?? [];
    if (isEmail(address, { require_tld: false })) return undefined;
    return 'must be an email address, or a name and the address: Bakery <shop@bakery.example>';
  });
}

/** Requires exact origins (RFC 6454), separated by commas: scheme, host and port without a path. Splits the list. */
export function IsOriginList(): PropertyDecorator {
  const isOrigin = (text: string) =>
    /^https?:\/\/[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
  const validate = ValidateText((value) => {
    if (splitList(value).every(isOrigin)) return undefined;
    if (splitList(value).some((item) => item.endsWith('/')))
      return 'must be origins without a slash at the end, such as https://shop.example';
    return 'must be origins such as https://shop.example, separated by commas';
  });
  const split = Transform(({ value }) => splitList(String(value)));
  return applyDecorators(split, validate);
}

/** Requires a number of hops, or addresses and networks (RFC 4632, RFC 4291), separated by commas. Express splits them. */
export function IsProxyList(): PropertyDecorator {
  const isHopCount = (value: unknown) => /^\d$/.test(String(value));
  const parseHopCount = Transform(({ value }) => (isHopCount(value) ? Number(value) : String(value)));
  const validate = ValidateText((value) => {
    if (isHopCount(value) || value.split(/ *, */).every(isNetwork)) return undefined;
    return 'must be a number of proxies up to 9, or addresses and networks such as 10.0.0.0/8';
  });
  return applyDecorators(parseHopCount, validate);
}

/** Returns true for an address or a network. Rejects `/0`, which would trust every client as a proxy. */
function isNetwork(text: string): boolean {
  const [address = '', length, ...rest] = text.split('/');
  // `isIP` also accepts an IPv6 zone, such as `fe80::1%eth0`.
  if (!isIP(address) || address.includes('%') || rest.length > 0) return false;
  const maxLength = isIP(address, 4) ? 32 : 128;
  return length === undefined || (/^[1-9]\d{0,2}$/.test(length) && Number(length) <= maxLength);
}

function splitList(text: string): string[] {
  const items = text.split(',').map((item) => item.trim());
  return items.filter((item) => item !== '');
}
