import type { Attempts, Limit } from './attempt-counts.js';

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
export const KNOWN_ADDRESS: Limit = { name: 'known', max: Infinity, seconds: 30 * DAY };

/**
 * Returns true if a limit rejects a guess of a password. An address that the owner of the account has used has only counters of
 * the account and the address.
 */
export function isPasswordRejected(attempts: readonly Attempts[]): boolean {
  const account = attempts.find(({ name }) => name === PASSWORDS_PER_ACCOUNT.name);
  const isUnderAttack = account !== undefined && isBeyond([account]);
  const pair = PASSWORDS_PER_ACCOUNT_AND_ADDRESS;
  // While an account is under attack, an unknown address gets one guess.
  const reduce = (counter: Attempts) =>
    isUnderAttack && counter.name === pair.name ? { ...counter, max: counter.max / pair.max } : counter;
  return isBeyond(attempts.filter((counter) => counter !== account).map(reduce));
}

/** Returns true if more attempts were made than a limit allows. */
export function isBeyond(attempts: readonly Attempts[]): boolean {
  return attempts.some(({ points, max }) => points > max);
}
