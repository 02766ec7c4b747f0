import { isEmail } from 'class-validator';
import { isIP } from 'node:net';

const MINIMUM_SECRET_LENGTH = 32;

/** The settings are unusable; the message names every bad variable, one a line. */
export class SettingsError extends Error {}

/**
 * Reads typed values from environment variables and collects what is wrong with them, so that an operator
 * mends all of it in one go. An empty variable counts as unset, as in a Compose file's `NAME=`.
 * Values never appear in messages: they may be secrets.
 */
export class SettingsReader {
  readonly #problems = new Map<string, string>();
  readonly #source: NodeJS.ProcessEnv;

  constructor(source: NodeJS.ProcessEnv) {
    this.#source = source;
  }

  /** Records a problem; the first one of a variable is kept. */
  bad(name: string, problem: string): void {
    if (!this.#problems.has(name)) this.#problems.set(name, problem);
  }

  /** @throws SettingsError if anything was recorded */
  throwIfBad(): void {
    if (this.#problems.size === 0) return;
    const lines = [...this.#problems].map(([name, problem]) => `  ${name} ${problem}`);
    throw new SettingsError(`The service cannot start with these settings:\n${lines.join('\n')}`);
  }

  optional(name: string): string | undefined {
    const value = this.#source[name]?.trim();
    return value === undefined || value === '' ? undefined : value;
  }

  /** As it is: the spaces of a password count. */
  password(name: string): string | undefined {
    return this.optional(name) === undefined ? undefined : this.#source[name];
  }

  text(name: string, fallback: string): string {
    return this.optional(name) ?? fallback;
  }

  /** A signing key; empty if it is unset. */
  secret(name: string): string {
    const value = this.text(name, '');
    if (value !== '' && value.length < MINIMUM_SECRET_LENGTH) {
      this.bad(name, `must have at least ${MINIMUM_SECRET_LENGTH} characters`);
    }
    return value;
  }

  oneOf<const T extends string>(name: string, allowed: readonly T[], fallback: T): T {
    const value = this.optional(name);
    if (value === undefined) return fallback;
    const match = allowed.find((candidate) => candidate === value);
    if (match === undefined) this.bad(name, `must be one of ${allowed.join(', ')}`);
    return match ?? fallback;
  }

  integer<F extends number | undefined>(
    name: string,
    fallback: F,
    minimum: number,
    maximum: number,
  ): number | F {
    const value = this.optional(name);
    if (value === undefined) return fallback;
    const number = /^\d{1,9}$/.test(value) ? Number(value) : NaN;
    if (number >= minimum && number <= maximum) return number;
    this.bad(name, `must be a whole number from ${minimum} to ${maximum}`);
    return fallback;
  }

  url(name: string, protocols: readonly string[]): string | undefined {
    const value = this.optional(name);
    if (value === undefined) return undefined;
    if (!URL.canParse(value) || !protocols.some((p) => value.toLowerCase().startsWith(`${p}//`))) {
      this.bad(name, `must be a URL that begins with ${protocols.map((p) => `${p}//`).join(' or ')}`);
    }
    try {
      decodeURIComponent(value);
    } catch {
      this.bad(name, 'must be a URL, in which a % is written as %25');
    }
    return value;
  }

  /** An http(s) address, to which paths are added: without its trailing slashes. */
  httpUrl(name: string, fallback: string): string {
    const value = this.url(name, ['http:', 'https:']) ?? fallback;
    if (/[@?#]/.test(value)) this.bad(name, 'must be an address without user name, query and fragment');
    return value.replace(/\/+$/, '');
  }

  /** `Name <address>` or an address alone. Its domain may be one of this network, such as `localhost`. */
  sender(name: string, fallback: string): string {
    const value = this.text(name, fallback);
    const [, address = value] = /^[^<>]*<([^<>]+)>$/.exec(value) ?? [];
    if (!isEmail(address, { require_tld: false }))
      this.bad(name, 'must be an e-mail address, or a name and the address: Bakery <shop@bakery.example>');
    return value;
  }

  email(name: string): string | undefined {
    const value = this.optional(name);
    if (value !== undefined && (!isEmail(value) || value.length > 254))
      this.bad(name, 'must be an e-mail address');
    return value;
  }

  /** A comma-separated list of exact origins (RFC 6454): scheme, host and port, nothing after them. */
  origins(name: string): string[] {
    const origins = this.#list(name).filter((origin) => origin !== '');
    for (const origin of origins) {
      if (!/^https?:\/\/[^*]+$/.test(origin) || !URL.canParse(origin) || new URL(origin).origin !== origin) {
        this.bad(name, 'must be origins such as https://shop.example, separated by commas');
      }
    }
    return origins;
  }

  /** A number of hops, or a comma-separated list of addresses and networks (RFC 4632, RFC 4291). */
  proxies(name: string): number | string[] {
    const value = this.text(name, '0');
    if (/^\d$/.test(value)) return Number(value);
    const networks = this.#list(name);
    if (!networks.every(isNetwork)) {
      this.bad(name, 'must be a number of proxies up to 9, or addresses and networks such as 10.0.0.0/8');
    }
    return networks;
  }

  #list(name: string): string[] {
    return this.text(name, '')
      .split(',')
      .map((item) => item.trim());
  }
}

/** Whether a text is an address or a network. `/0` is refused: each client could then choose its own address. */
function isNetwork(text: string): boolean {
  const [address = '', length, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || address.includes('%') || rest.length > 0) return false;
  if (length === undefined) return true;
  return /^[1-9]\d{0,2}$/.test(length) && Number(length) <= (version === 4 ? 32 : 128);
}
