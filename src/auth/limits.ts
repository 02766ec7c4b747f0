/** Limit of the attempts in a window that begins with the first attempt. */
export interface Limit {
  /** Prefix of stored keys. */
  readonly name: string;
  readonly seconds: number;
  readonly max: number;
}

/** Stored counter, for example of the attempts at one account from one client address. */
export type Counter = Limit & { readonly key: string };

/** Counter with its number of attempts (`points`), including the attempt that is being checked. */
export type Count = Counter & { readonly points: number };

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * All limits of guesses and mails (docs/decisions/09). Each `name` is part of stored keys. Version 1.2 uses the same names, except
 * that of the reset, so that both versions count together during a rolling upgrade.
 */
export const LIMITS = {
  passwordsForAccountFromAddress: { name: 'password-from', max: 50, seconds: HOUR },
  /** NIST SP 800-63B, 3.2.2, limits guesses for one account to 100. */
  passwordsForAccount: { name: 'password-at', max: 100, seconds: HOUR },
  /** About one each second. An office behind one address mistypes only a few passwords a minute. */
  passwordsFromAddress: { name: 'wrong-of', max: 1_000, seconds: 15 * MINUTE },
  /** Each mailed code has its own count, for as long as the code is valid. */
  triesOfCodeFromAddress: { name: 'code-from', max: 5, seconds: 10 * MINUTE },
  codesFromAddress: { name: 'codes-of', max: 60, seconds: HOUR },
  mailsToMailboxForPurpose: { name: 'mail-to', max: 1, seconds: MINUTE },
  mailsToMailbox: { name: 'mails-to', max: 10, seconds: HOUR },
  mailsFromAddress: {
    verify_email: { name: 'mails-of', max: 100, seconds: HOUR },
    reset_password: { name: 'resets-of', max: 100, seconds: HOUR },
  },
} as const;

/** Marks are stored like counters, but only exist or have expired. */
export const MARKS = {
  /** Client address that the owner of an account has used. */
  knownAddress: { name: 'known', max: Infinity, seconds: 30 * DAY },
  /** Client address that requested a code, for longer than the code is valid. */
  requester: { name: 'code-requested', max: Infinity, seconds: 20 * MINUTE },
} as const;

/**
 * Returns true if a limit rejects a guess of a password. An address that the owner of the account has used has only counters of
 * the account and the address.
 */
export function isPasswordRejected(counts: readonly Count[]): boolean {
  const account = counts.find(({ name }) => name === LIMITS.passwordsForAccount.name);
  const isUnderAttack = account !== undefined && isBeyond([account]);
  const pair = LIMITS.passwordsForAccountFromAddress;
  // While an account is under attack, an unknown address gets one guess.
  const reduce = (count: Count) =>
    isUnderAttack && count.name === pair.name ? { ...count, max: count.max / pair.max } : count;
  return isBeyond(counts.filter((count) => count !== account).map(reduce));
}

/** Returns true if more attempts were made than a limit allows. */
export function isBeyond(counts: readonly Count[]): boolean {
  return counts.some(({ points, max }) => points > max);
}
