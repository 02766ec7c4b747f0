import { isOverLimit, type Limit, LIMITS } from '../src/auth/limits.js';

/** Numbers of attempts, including the guess that is being checked. */
interface Attempts {
  readonly forAccountFromAddress: number;
  readonly forAccountFromNetwork?: number;
  /** Undefined for an address that the owner has used: only the attempts for the account from the address are counted. */
  readonly forAccount?: number;
  readonly fromAddress?: number;
}

function isRejected(attempts: Attempts): boolean {
  const { forAccountFromAddress, forAccountFromNetwork, forAccount, fromAddress } = attempts;
  const toCounts = (limit: Limit, count: number | undefined) =>
    count === undefined ? [] : [{ ...limit, key: '', attempts: count }];
  const ofAddress = LIMITS.passwordsForAccountFromAddress;
  return isOverLimit([
    ...toCounts(ofAddress, forAccountFromAddress),
    ...toCounts({ ...ofAddress, max: 16 * ofAddress.max }, forAccountFromNetwork),
    ...toCounts(LIMITS.passwordsForAccount, forAccount),
    ...toCounts(LIMITS.passwordsFromAddress, fromAddress),
  ]);
}

it.each<[limit: string, atLimit: Attempts, beyond: Attempts]>([
  ['50 guesses from a known address', { forAccountFromAddress: 50 }, { forAccountFromAddress: 51 }],
  [
    '1,000 guesses from an address for any accounts',
    { forAccountFromAddress: 1, forAccount: 1, fromAddress: 1_000 },
    { forAccountFromAddress: 1, forAccount: 1, fromAddress: 1_001 },
  ],
  [
    '100 guesses for an account, by an address that guesses for a second time,',
    { forAccountFromAddress: 2, forAccount: 100 },
    { forAccountFromAddress: 2, forAccount: 101 },
  ],
  [
    '1 guess from each address after 100 guesses for the account',
    { forAccountFromAddress: 1, forAccount: 101 },
    { forAccountFromAddress: 2, forAccount: 101 },
  ],
  [
    '16 guesses from a /48 network after 100 guesses for the account',
    { forAccountFromAddress: 1, forAccountFromNetwork: 16, forAccount: 101 },
    { forAccountFromAddress: 1, forAccountFromNetwork: 17, forAccount: 101 },
  ],
])('%s are checked, and the next guess is rejected', (_limit, atLimit, beyond) => {
  expect([isRejected(atLimit), isRejected(beyond)]).toEqual([false, true]);
});
