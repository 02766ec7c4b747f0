import { isCodeRejected, isPasswordRejected } from '../src/auth/guess-limits.js';

const FRESH = { perAccountAndAddress: [1], perAccount: [1], perAddress: [1] };
/** An address that the owner has used has no counts except that for the account and the address. */
const KNOWN = { perAccount: [], perAddress: [] };

describe('a password guess', () => {
  it.each([
    ['the 50th from a known address', { ...KNOWN, perAccountAndAddress: [50] }, false],
    ['the 51st from a known address', { ...KNOWN, perAccountAndAddress: [51] }, true],
    ['the 800th for an account from one /48 network', { perAccountAndAddress: [1, 800] }, false],
    ['the 801st for an account from one /48 network', { perAccountAndAddress: [1, 801] }, true],
    ['the 1,000th from one address', { perAddress: [1_000] }, false],
    ['the 1,001st from one address', { perAddress: [1_001] }, true],
    ['the 16,001st from one /48 network', { perAddress: [1, 16_001] }, true],
    ['the 100th for an account', { perAccount: [100], perAccountAndAddress: [2] }, false],
    ['the 101st for an account, the first from its address', { perAccount: [101] }, false],
    ['the 101st, the second from its address', { perAccount: [101], perAccountAndAddress: [2] }, true],
    ['the 101st, the 16th of its /48', { perAccount: [101], perAccountAndAddress: [1, 16] }, false],
    ['the 101st, the 17th of its /48', { perAccount: [101], perAccountAndAddress: [1, 17] }, true],
  ])('that is %s has the rejection %2$s', (_what, counts, expected) => {
    expect(isPasswordRejected({ ...FRESH, ...counts })).toBe(expected);
  });
});

describe('a guess of a code', () => {
  it.each([
    ['the 81st of a code from one /48 network', { perCodeAndAddress: [1, 81] }, true],
    ['the 961st from one /48 network', { perAddress: [1, 961] }, true],
  ])('that is %s is judged by its limit', (_what, counts, expected) => {
    expect(isCodeRejected({ perCodeAndAddress: [1], perAddress: [1], ...counts })).toBe(expected);
  });
});
