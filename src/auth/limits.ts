/** Maximum number of attempts in a window that begins with the first attempt. */
export interface Limit {
  /** Prefix of stored keys. */
  readonly name: string;
  readonly seconds: number;
  readonly max: number;
}

/** Limit of one stored count, for example of the attempts at one account from one client address. */
export type Counter = Limit & { readonly key: string };

/** Counter with its number of attempts, including the attempt that is being checked. */
export type AttemptCount = Counter & { readonly attempts: number };

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;
const DAY_S = 24 * HOUR_S;

/**
 * All limits of guesses and mails (docs/decisions/09). An address is a client address. Version 1.2 has the same names except
 * `resets-of` and `code-at`, so that both versions count together during a rolling upgrade.
 */
export const LIMITS = {
  // Passwords. Only the first limit applies to a known address, so that guesses from others cannot lock the owner out.
  passwordsForAccountFromAddress: { name: 'password-from', max: 50, seconds: HOUR_S },
  /** NIST SP 800-63B, 3.2.2, limits guesses for one account to 100. Beyond it, each unknown address gets one guess. */
  passwordsForAccount: { name: 'password-at', max: 100, seconds: HOUR_S },
  /** About one each second. An office behind one address mistypes only a few passwords a minute. */
  passwordsFromAddress: { name: 'wrong-of', max: 1_000, seconds: 15 * MINUTE_S },

  // Codes. Each mailed code has its own counts of tries, for as long as the code is valid.
  triesOfCodeFromAddress: { name: 'code-from', max: 5, seconds: 10 * MINUTE_S },
  // Four limits of one count, that of the tries from all addresses: tries from others must not lock the owner out.
  triesOfCode: { name: 'code-at', max: 20, seconds: 10 * MINUTE_S },
  triesOfCodeForRequester: { name: 'code-at', max: 100, seconds: 10 * MINUTE_S },
  /**
   * For addresses whose request was counted as a mail. `mailsToMailbox` allows ten such addresses in a window. Each of them keeps
   * its five tries even if other requesters have made 100 tries: 100 + 10 * 5. At the boundary of two windows, there can be 20
   * such addresses, and the last ones may lose tries.
   */
  triesOfCodeForMailed: { name: 'code-at', max: 150, seconds: 10 * MINUTE_S },
  triesOfCodeForKnownAddress: { name: 'code-at', max: Infinity, seconds: 10 * MINUTE_S },
  codesFromAddress: { name: 'codes-of', max: 60, seconds: HOUR_S },

  // Mails with a code.
  mailsToMailboxForPurpose: { name: 'mail-to', max: 1, seconds: MINUTE_S },
  mailsToMailbox: { name: 'mails-to', max: 10, seconds: HOUR_S },
  mailsFromAddress: {
    verify_email: { name: 'mails-of', max: 100, seconds: HOUR_S },
    reset_password: { name: 'resets-of', max: 100, seconds: HOUR_S },
  },
} as const;

/** Marks of client addresses: counters of one attempt, which stay set until they expire. */
export const MARKS = {
  /** The owner of an account has used the address. */
  knownAddress: { name: 'known', max: 1, seconds: 30 * DAY_S },
  /** The address has requested a code, which is valid for a shorter time than the mark. */
  requester: { name: 'code-requested', max: 1, seconds: 20 * MINUTE_S },
  /** A request from the address was counted as a mail. Also set for an email without an account, to which nothing is mailed. */
  mailed: { name: 'code-mailed', max: 1, seconds: 20 * MINUTE_S },
} as const;

/** Returns true if one of the limits rejects the attempt that is being checked. */
export function isOverLimit(counts: readonly AttemptCount[]): boolean {
  const { passwordsForAccount, passwordsForAccountFromAddress } = LIMITS;
  const isUnderAttack = counts.some(
    ({ name, attempts, max }) => name === passwordsForAccount.name && attempts > max,
  );
  return counts.some(({ name, attempts, max }) => {
    // This limit rejects nothing itself. It reduces the limit for the account and the address.
    if (name === passwordsForAccount.name) return false;
    const factor = max / passwordsForAccountFromAddress.max; // 1 for an address, 16 for a /48 network
    if (name === passwordsForAccountFromAddress.name && isUnderAttack) return attempts > factor;
    return attempts > max;
  });
}
