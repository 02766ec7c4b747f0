import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { isIPv6 } from 'node:net';

/**
 * Injects the network that a request came from, for counting: an IPv4 address, or an IPv6 network of 64 bits, since one
 * customer has all addresses of such a network. Behind proxies of TRUSTED_PROXIES it is the one that they name.
 */
export const ClientAddress = createParamDecorator((_: undefined, context: ExecutionContext): string => {
  const { ip = '' } = context.switchToHttp().getRequest<Request>();
  return networkOf(ip);
});

/** What is no address, because a proxy passed on what a client wrote into X-Forwarded-For, is counted as it is. */
function networkOf(ip: string): string {
  // Some proxies add the port, which is another one for each connection: `192.0.2.1:4711`, `[2001:db8::1]:4711`.
  const [plain = ''] = ip.replace(/^\[(.+)\]:\d+$|^([\d.]+):\d+$/, '$1$2').split('%', 1);
  // A socket for both versions shows an IPv4 address with a prefix (RFC 4291, 2.5.5.2).
  const address = plain.replace(/^::ffff:(?=[\d.]+$)/i, '');
  if (!isIPv6(address)) return address;
  // A URL writes an address in one way: groups of hexadecimal digits, of which `::` leaves out some that are zero.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const before = head.split(':').filter(Boolean);
  const after = tail?.split(':').filter(Boolean) ?? [];
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`;
}
