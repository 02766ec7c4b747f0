import type { CounterKind, Limit } from './attempt-counts.js';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

// Each `name` is part of stored keys. Version 1.2 uses the same names.
export const PASSWORDS_PER_ACCOUNT_AND_ADDRESS: Limit = { name: 'password-from', max: 50, seconds: HOUR };
/** NIST SP 800-63B, 3.2.2, limits guesses for one account to 100. */
export const PASSWORDS_PER_ACCOUNT: Limit = { name: 'password-at', max: 100, seconds: HOUR };
/** An office behind one address mistypes a few passwords a minute, not one each second. */
export const PASSWORDS_PER_ADDRESS: Limit = { name: 'wrong-of', max: 1_000, seconds: 15 * MINUTE };
/** Each mailed code has its own count, for as long as the code is valid. */
export const CODES_PER_CODE_AND_ADDRESS: Limit = { name: 'code-from', max: 5, seconds: 10 * MINUTE };
export const CODES_PER_ADDRESS: Limit = { name: 'codes-of', max: 60, seconds: HOUR };
/** Marks a client address that the owner of an account has used. */
export const KNOWN_ADDRESS: CounterKind = { name: 'known', seconds: 30 * DAY };

/** An IPv6 customer may have 65,536 addresses in a /48 network. Together, they have 16 times the limit of an address. */
const NETWORK_FACTOR = 16;

/** Attempts including the one to decide: from the client's address, and from its /48 network for IPv6. */
type ClientAttempts = readonly number[];

/** An address that the owner of the account has used counts only as `perAccountAndAddress`. */
interface PasswordAttempts {
  readonly perAccountAndAddress: ClientAttempts;
  readonly perAddress: ClientAttempts;
  readonly perAccount: readonly number[];
}

interface CodeAttempts {
  readonly perCodeAndAddress: ClientAttempts;
  readonly perAddress: ClientAttempts;
}

export function isPasswordRejected({
  perAccountAndAddress,
  perAddress,
  perAccount,
}: PasswordAttempts): boolean {
  // While an account is under attack, an unknown address gets one guess.
  const isUnderAttack = isBeyond(PASSWORDS_PER_ACCOUNT.max, perAccount);
  const max = isUnderAttack ? 1 : PASSWORDS_PER_ACCOUNT_AND_ADDRESS.max;
  return isBeyond(max, perAccountAndAddress) || isBeyond(PASSWORDS_PER_ADDRESS.max, perAddress);
}

export function isCodeRejected({ perCodeAndAddress, perAddress }: CodeAttempts): boolean {
  return (
    isBeyond(CODES_PER_CODE_AND_ADDRESS.max, perCodeAndAddress) || isBeyond(CODES_PER_ADDRESS.max, perAddress)
  );
}

/** Returns true if more attempts were made than the limit allows. */
export function isBeyond(max: number, [address = 0, network = 0]: ClientAttempts): boolean {
  return address > max || network > max * NETWORK_FACTOR;
}
