import fc from 'fast-check';
import { networkOf } from '../src/auth/client-address.decorator.js';

describe('the network that is counted', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:c000:0207', '192.0.2.7'],
    ['::1', '0:0:0:0::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:DB8:0:0:ffff:ffff:ffff:ffff', '2001:db8:0:0::/64'],
    ['2001:db8:0:1::', '2001:db8:0:1::/64'],
    ['::ffff:0:192.0.2.7', '0:0:0:0::/64'],
    ['1:2:3:4:5:6:7:8', '1:2:3:4::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('issue 4, Hostile input: of %s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  it.each([
    '',
    'unknown',
    '1.2.3.4:5678',
    '[::1]',
    '1.2.3',
    '::1/64',
    'a'.repeat(10_000),
    '127.0.0.1, 10.0.0.1',
  ])('issue 4, Hostile input: %j is no address', (text) => {
    expect(networkOf(text)).toBeNull();
  });

  it('issue 4, Hostile input: is the same for all addresses that share their first 64 bits, and for no others', () => {
    const half = fc.tuple(fc.nat(0xffff), fc.nat(0xffff), fc.nat(0xffff), fc.nat(0xffff));
    const text = (groups: readonly number[]): string => groups.map((group) => group.toString(16)).join(':');
    fc.assert(
      fc.property(half, half, half, half, (a, b, c, d) => {
        fc.pre(a.some((group) => group !== 0) && b.some((group) => group !== 0));
        const isSame = text(a) === text(b);
        expect(networkOf(text([...a, ...c])) === networkOf(text([...b, ...d]))).toBe(isSame);
        expect(networkOf(text([...a, ...c]))).toBe(networkOf(text([...a, ...d])));
      }),
    );
  });
});
