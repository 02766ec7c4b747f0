import { isPasswordOverLimit, type Limit, LIMITS } from '../src/auth/limits.js';

interface Counts {
  /** Attempts for the account from the address, and from its /48 network. */
  readonly pair?: readonly number[];
  readonly account?: readonly number[];
  /** Attempts from the address, and from its /48 network. */
  readonly address?: readonly number[];
}

/** An address that the owner has used has no counts except that for the account and the address. */
const KNOWN = { account: [], address: [] };

function isRejected({ pair = [1], account = [1], address = [1] }: Counts): boolean {
  const toAttempts = (limit: Limit, counts: readonly number[]) =>
    // A /48 network has 16 times the limit of an address.
    counts.map((attempts, index) => ({ ...limit, key: '', max: limit.max * 16 ** index, attempts }));
  return isPasswordOverLimit([
    ...toAttempts(LIMITS.passwordsForAccountFromAddress, pair),
    ...toAttempts(LIMITS.passwordsForAccount, account),
    ...toAttempts(LIMITS.passwordsFromAddress, address),
  ]);
}

it.each<[string, Counts, last: string, Counts]>([
  ['50th from a known address', { ...KNOWN, pair: [50] }, '51st', { ...KNOWN, pair: [51] }],
  [
    '800th from known addresses of a /48',
    { ...KNOWN, pair: [1, 800] },
    '801st',
    { ...KNOWN, pair: [1, 801] },
  ],
  ['1,000th from one address', { address: [1_000] }, '1,001st', { address: [1_001] }],
  ['16,000th from one /48 network', { address: [1, 16_000] }, '16,001st', { address: [1, 16_001] }],
  ['100th for an account', { account: [100], pair: [2] }, '101st', { account: [101], pair: [2] }],
  ['1st from an address after 100 for the account', { account: [101] }, '2nd', { account: [101], pair: [2] }],
  [
    '16th from a /48 network after 100 for the account',
    { account: [101], pair: [1, 16] },
    '17th',
    { account: [101], pair: [1, 17] },
  ],
])('a password guess that is the %s is checked (%j), and the %s is rejected (%j)', (_n, last, _m, first) => {
  expect([isRejected(last), isRejected(first)]).toEqual([false, true]);
});
