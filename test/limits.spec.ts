import { type AttemptCount, isOverLimit, type Limit, LIMITS } from '../src/auth/limits.js';

/** Returns a function that builds the count of a limit, including the guess that is being checked. */
const count = (limit: Limit) => (attempts: number) => ({ ...limit, key: '', attempts });
const { passwordsForAccountFromAddress } = LIMITS;
const forAccountFromAddress = count(passwordsForAccountFromAddress);
const forAccountFromNetwork = count({
  ...passwordsForAccountFromAddress,
  max: 16 * passwordsForAccountFromAddress.max,
});
const forAccount = count(LIMITS.passwordsForAccount);
const fromAddress = count(LIMITS.passwordsFromAddress);

// The limits for the account do not apply to a known address.
it.each<[limit: string, atLimit: AttemptCount[], beyond: AttemptCount[]]>([
  ['50 guesses from a known address', [forAccountFromAddress(50)], [forAccountFromAddress(51)]],
  [
    '1,000 guesses from an address for any accounts',
    [forAccountFromAddress(1), forAccount(1), fromAddress(1_000)],
    [forAccountFromAddress(1), forAccount(1), fromAddress(1_001)],
  ],
  [
    '100 guesses for an account, the last one being the second from its address,',
    [forAccountFromAddress(2), forAccount(100)],
    [forAccountFromAddress(2), forAccount(101)],
  ],
  [
    '1 guess from each address after 100 guesses for the account',
    [forAccountFromAddress(1), forAccount(101)],
    [forAccountFromAddress(2), forAccount(101)],
  ],
  [
    '16 guesses from a /48 network after 100 guesses for the account',
    [forAccountFromAddress(1), forAccountFromNetwork(16), forAccount(101)],
    [forAccountFromAddress(1), forAccountFromNetwork(17), forAccount(101)],
  ],
])('%s are checked, and the next guess is rejected', (_limit, atLimit, beyond) => {
  expect([isOverLimit(atLimit), isOverLimit(beyond)]).toEqual([false, true]);
});
