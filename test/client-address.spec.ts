import { networkOf } from '../src/auth/client-address.decorator.js';

describe('the network of an address', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::1', '0:0:0:0::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:DB8:0:0:ffff:ffff:ffff:ffff', '2001:db8:0:0::/64'],
    ['2001:db8:0:1::', '2001:db8:0:1::/64'],
    ['::ffff:0:192.0.2.7', '0:0:0:0::/64'],
    ['1:2:3:4:5:6:7:8', '1:2:3:4::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('of %s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  it.each(['', 'unknown', '1.2.3.4:5678', '[::1]', '1.2.3', '::1/64', '127.0.0.1, 10.0.0.1'])(
    '%j is no address',
    (text) => {
      expect(networkOf(text)).toBeNull();
    },
  );
});
