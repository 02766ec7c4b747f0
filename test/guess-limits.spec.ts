import {
  isPasswordRejected,
  PASSWORDS_PER_ACCOUNT,
  PASSWORDS_PER_ACCOUNT_AND_ADDRESS,
  PASSWORDS_PER_ADDRESS,
} from '../src/auth/guess-limits.js';

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
  const toAttempts = (limit: typeof PASSWORDS_PER_ACCOUNT, counts: readonly number[]) =>
    // A /48 network has 16 times the limit of an address.
    counts.map((points, index) => ({ ...limit, key: '', max: limit.max * 16 ** index, points }));
  return isPasswordRejected([
    ...toAttempts(PASSWORDS_PER_ACCOUNT_AND_ADDRESS, pair),
    ...toAttempts(PASSWORDS_PER_ACCOUNT, account),
    ...toAttempts(PASSWORDS_PER_ADDRESS, address),
  ]);
}

describe('a password guess', () => {
  it.each<[string, Counts]>([
    ['the 50th from a known address', { ...KNOWN, pair: [50] }],
    ['the 800th for an account from known addresses of one /48 network', { ...KNOWN, pair: [1, 800] }],
    ['the 1,000th from one address', { address: [1_000] }],
    ['the 100th for an account', { account: [100], pair: [2] }],
    ['the 101st for an account, the first from its address', { account: [101] }],
    ['the 101st for an account, the 16th from its /48 network', { account: [101], pair: [1, 16] }],
  ])('that is %s is checked', (_what, counts) => {
    expect(isRejected(counts)).toBe(false);
  });

  it.each<[string, Counts]>([
    ['the 51st from a known address', { ...KNOWN, pair: [51] }],
    ['the 801st for an account from known addresses of one /48 network', { ...KNOWN, pair: [1, 801] }],
    ['the 1,001st from one address', { address: [1_001] }],
    ['the 16,001st from one /48 network', { address: [1, 16_001] }],
    ['the 101st for an account, the second from its address', { account: [101], pair: [2] }],
    ['the 101st for an account, the 17th from its /48 network', { account: [101], pair: [1, 17] }],
  ])('that is %s is rejected', (_what, counts) => {
    expect(isRejected(counts)).toBe(true);
  });
});
