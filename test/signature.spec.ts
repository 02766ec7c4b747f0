import fc from 'fast-check';
import { isSignedBy, signatureOf } from '../src/gateway/signature.js';

const RUNS = 1_000;
const KEY = 'SB-Mid-server-example';
const FIELDS = { order_id: 'order-1', status_code: '200', gross_amount: '10000.00' };

const fields = fc.record({ order_id: fc.string(), status_code: fc.string(), gross_amount: fc.string() });

describe('the signature of a notification', () => {
  it('is SHA-512 of order_id + status_code + gross_amount + server key', () => {
    // printf '%s' 'order-120010000.00SB-Mid-server-example' | sha512sum
    expect(signatureOf(FIELDS, KEY)).toBe(
      'b585e2f00739d53bd25fef1c3b562b554b2759c4ff94af46f0f122fef0ffb1565431ed868bce90d869cc6773c29629506d7a1bbe0af7ac21ed9288c3f316fb18',
    );
  });

  it('is taken in either case of its hexadecimal digits', () => {
    const signature = signatureOf(FIELDS, KEY);
    expect(isSignedBy(FIELDS, signature, KEY)).toBe(true);
    expect(isSignedBy(FIELDS, signature.toUpperCase(), KEY)).toBe(true);
  });

  it('of one text it holds for no other text and no other key', () => {
    fc.assert(
      fc.property(fields, fields, fc.string(), fc.string(), (one, other, key, otherKey) => {
        const textOf = (signed: typeof one, by: string): string =>
          signed.order_id + signed.status_code + signed.gross_amount + by;
        expect(isSignedBy(other, signatureOf(one, key), otherKey)).toBe(
          textOf(one, key) === textOf(other, otherKey),
        );
      }),
      { numRuns: RUNS },
    );
  });

  it('one changed character, one more or one less does not hold', () => {
    const signature = signatureOf(FIELDS, KEY);
    fc.assert(
      fc.property(fc.nat(signature.length - 1), fc.stringMatching(/^[0-9a-f]$/), (index, digit) => {
        const changed = signature.slice(0, index) + digit + signature.slice(index + 1);
        expect(isSignedBy(FIELDS, changed, KEY)).toBe(changed === signature);
        expect(isSignedBy(FIELDS, signature.slice(0, index), KEY)).toBe(false);
        expect(isSignedBy(FIELDS, signature + digit, KEY)).toBe(false);
      }),
      { numRuns: RUNS },
    );
  });
});
