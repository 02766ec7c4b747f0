import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { isIPv4, isIPv6 } from 'node:net';

/**
 * Injects the network that a request came from, for counting: an IPv4 address, or an IPv6 network of 64 bits, since one
 * customer has all addresses of such a network. Behind proxies of TRUSTED_PROXIES it is the one that they name.
 */
export const ClientAddress = createParamDecorator((_: undefined, context: ExecutionContext): string => {
  const request = context.switchToHttp().getRequest<Request>();
  // A proxy may pass on what a client wrote into X-Forwarded-For, which need not be an address.
  return networkOf(request.ip) ?? networkOf(request.socket.remoteAddress) ?? 'unknown';
});

/** The IPv4 address or IPv6 /64 network of an address; null when it is none. */
function networkOf(address = ''): string | null {
  const [plain = ''] = address.split('%', 1);
  // How a socket for both versions shows an IPv4 address (RFC 4291, 2.5.5.2).
  const ipv4 = plain.replace(/^::ffff:(?=[\d.]+$)/i, '');
  if (isIPv4(ipv4)) return ipv4;
  if (!isIPv6(plain)) return null;
  // A URL writes an address in one way: groups of hexadecimal digits, of which `::` leaves out some that are zero.
  const [head = '', tail] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::');
  const before = head.split(':').filter(Boolean);
  const after = tail?.split(':').filter(Boolean) ?? [];
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`;
}
