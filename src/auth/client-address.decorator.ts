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
function networkOf(address: string): string {
  const [plain = ''] = address.split('%', 1);
  // How a socket for both versions shows an IPv4 address (RFC 4291, 2.5.5.2).
  const ipv4 = plain.replace(/^::ffff:(?=[\d.]+$)/i, '');
  if (!isIPv6(ipv4)) return ipv4;
  // A URL writes an address in one way: groups of hexadecimal digits, of which `::` leaves out some that are zero.
  const [head = '', tail] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::');
  const before = head.split(':').filter(Boolean);
  const after = tail?.split(':').filter(Boolean) ?? [];
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`;
}
