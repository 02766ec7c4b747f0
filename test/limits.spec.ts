import { isOverLimit, type Limit, LIMITS } from '../src/auth/limits.js';

interface Counts {
  /** Attempts for the account from the address, and from its /48 network. */
  readonly accountFromAddress?: readonly number[];
  readonly account?: readonly number[];
  /** Attempts from the address, and from its /48 network. */
  readonly address?: readonly number[];
}

/** An address that the owner has used has no counts except that for the account and the address. */
const KNOWN = { account: [], address: [] };

function isRejected({ accountFromAddress = [1], account = [1], address = [1] }: Counts): boolean {
  const toAttempts = (limit: Limit, counts: readonly number[]) =>
    // A /48 network has 16 times the limit of an address.
    counts.map((attempts, index) => ({ ...limit, key: '', max: limit.max * 16 ** index, attempts }));
  return isOverLimit([
    ...toAttempts(LIMITS.passwordsForAccountFromAddress, accountFromAddress),
    ...toAttempts(LIMITS.passwordsForAccount, account),
    ...toAttempts(LIMITS.passwordsFromAddress, address),
  ]);
}

/** The attempts for the account have exceeded their limit of 100. */
const UNDER_ATTACK = { account: [101] };

it.each<[limit: string, atLimit: Counts, beyond: Counts]>([
  [
    '50 guesses from a known address',
    { ...KNOWN, accountFromAddress: [50] },
    { ...KNOWN, accountFromAddress: [51] },
  ],
  [
    '800 guesses from known addresses of a /48 network',
    { ...KNOWN, accountFromAddress: [1, 800] },
    { ...KNOWN, accountFromAddress: [1, 801] },
  ],
  ['1,000 guesses from an address for any accounts', { address: [1_000] }, { address: [1_001] }],
  ['16,000 guesses from a /48 network for any accounts', { address: [1, 16_000] }, { address: [1, 16_001] }],
  [
    '100 guesses for an account, by an address that guesses for a second time,',
    { account: [100], accountFromAddress: [2] },
    { ...UNDER_ATTACK, accountFromAddress: [2] },
  ],
  [
    '1 guess from each address after 100 guesses for the account',
    { ...UNDER_ATTACK, accountFromAddress: [1] },
    { ...UNDER_ATTACK, accountFromAddress: [2] },
  ],
  [
    '16 guesses from a /48 network after 100 guesses for the account',
    { ...UNDER_ATTACK, accountFromAddress: [1, 16] },
    { ...UNDER_ATTACK, accountFromAddress: [1, 17] },
  ],
])('%s are checked, and the next guess is rejected', (_limit, atLimit, beyond) => {
  expect([isRejected(atLimit), isRejected(beyond)]).toEqual([false, true]);
});
