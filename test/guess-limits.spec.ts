import { importBuilt } from './support/built.js';

const FRESH = { perAccountAndAddress: [1], perAccount: [1], perAddress: [1] };

describe('a password guess', () => {
  it.each([
    ['the first of an unknown address', false, {}, false],
    ['the 50th for an account from one address', false, { perAccountAndAddress: [50] }, false],
    ['the 51st for an account from one address', false, { perAccountAndAddress: [51] }, true],
    ['the 51st from a known address', true, { perAccountAndAddress: [51] }, true],
    ['the 800th for an account from one /48 network', false, { perAccountAndAddress: [1, 800] }, false],
    ['the 801st for an account from one /48 network', false, { perAccountAndAddress: [1, 801] }, true],
    ['the 1,000th from one address', false, { perAddress: [1_000] }, false],
    ['the 1,001st from one address', false, { perAddress: [1_001] }, true],
    ['the 1,001st from one address, known', true, { perAddress: [1_001] }, false],
    ['the 16,001st from one /48 network', false, { perAddress: [1, 16_001] }, true],
    ['the 100th for an account', false, { perAccount: [100], perAccountAndAddress: [2] }, false],
    ['the 101st for an account, the first from its address', false, { perAccount: [101] }, false],
    ['the 101st, the second from its address', false, { perAccount: [101], perAccountAndAddress: [2] }, true],
    ['the 101st, the 16th of its /48', false, { perAccount: [101], perAccountAndAddress: [1, 16] }, false],
    ['the 101st, the 17th of its /48', false, { perAccount: [101], perAccountAndAddress: [1, 17] }, true],
    ['the 101st, from a known address', true, { perAccount: [101], perAccountAndAddress: [2] }, false],
  ])('that is %s (known: %s) has the rejection %3$s', async (_what, isKnownAddress, counts, expected) => {
    const { isPasswordRejected } = await importBuilt('src/auth/guess-limits.js');
    expect(isPasswordRejected({ ...FRESH, isKnownAddress, ...counts })).toBe(expected);
  });
});

describe('a guess of a code', () => {
  it.each([
    ['the fifth of a code from one address', { perCodeAndAddress: [5] }, false],
    ['the sixth of a code from one address', { perCodeAndAddress: [6] }, true],
    ['the 81st of a code from one /48 network', { perCodeAndAddress: [1, 81] }, true],
    ['the 60th from one address', { perAddress: [60] }, false],
    ['the 61st from one address', { perAddress: [61] }, true],
    ['the 961st from one /48 network', { perAddress: [1, 961] }, true],
  ])('that is %s is judged by its limit', async (_what, counts, expected) => {
    const { isCodeRejected } = await importBuilt('src/auth/guess-limits.js');
    expect(isCodeRejected({ perCodeAndAddress: [1], perAddress: [1], ...counts })).toBe(expected);
  });
});
