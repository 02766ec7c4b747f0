const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** What an owner of an account proves itself with, and a stranger guesses at. */
export type Secret = 'password' | 'code';

/** How many failures (or mails) are free within a window, which begins with the first of them. */
export interface AttemptLimit {
  readonly free: number;
  readonly windowSeconds: number;
}

/** Wrong guesses at one account from one address. Nobody mistypes so often; 50 an hour find no password worth the name. */
export const GUESSES_FROM_ONE_ADDRESS: Readonly<Record<Secret, AttemptLimit>> = {
  password: { free: 50, windowSeconds: HOUR },
  // A code has five tries and a successor each minute: without this, 300 an hour. It also bounds how many codes of
  // others one address can use up.
  code: { free: 20, windowSeconds: HOUR },
};

/**
 * Wrong guesses at one account from all addresses that its owner has not used. From here on the account counts as under
 * attack: NIST SP 800-63B section 3.2.2 wants guessing bounded at 100.
 */
export const GUESSES_AT_ONE_ACCOUNT: Readonly<Record<Secret, AttemptLimit>> = {
  password: { free: 100, windowSeconds: HOUR },
  code: { free: 50, windowSeconds: HOUR },
};

/** What an address that the owner has not used may guess wrong at an account under attack: its first guess counts. */
export const STRANGERS_GUESSES_UNDER_ATTACK = 1;

/**
 * Wrong guesses from one address at whatever account. An office or a mobile network behind one address mistypes a few
 * times a minute; this is more than one a second, all the time.
 */
export const GUESSES_OF_ONE_ADDRESS: AttemptLimit = { free: 1_000, windowSeconds: 15 * MINUTE };

/** How long an address is known as the owner's after it has proved itself there; most customers come back monthly. */
export const KNOWN_ADDRESS_SECONDS = 30 * DAY;
/** A known address is written again when it is older than this, not at each login. */
export const KNOWN_ADDRESS_RENEWED_AFTER_SECONDS = DAY;

/** Mails that one address causes to whomever, a code each; it may be a whole school's. Further ones leave slowly, or not. */
export const MAILS_OF_ONE_ADDRESS: AttemptLimit = { free: 10_000, windowSeconds: HOUR };
/** Gap between the mails of registrations beyond that: they are promised, but not when. */
export const SLOW_MAIL_GAP_SECONDS = 10;
/** Codes that one address has mailed to one account, besides one a minute. Nobody needs more; a nuisance would. */
export const MAILS_TO_ONE_ACCOUNT: AttemptLimit = { free: 10, windowSeconds: HOUR };
