import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { isIP } from 'node:net';

/**
 * Injects the network that a request came from, for counting: an IPv4 address, or an IPv6 network of 64 bits, of which
 * anybody has all addresses. Behind proxies of TRUSTED_PROXIES it is the one that they name.
 */
export const ClientAddress = createParamDecorator((_: undefined, context: ExecutionContext): string => {
  const request = context.switchToHttp().getRequest<Request>();
  // A proxy may pass on what a client wrote into X-Forwarded-For, which need not be an address.
  return networkOf(request.ip) ?? networkOf(request.socket.remoteAddress) ?? 'unknown';
});

/** The IPv4 address or IPv6 /64 network of an address; null when it is none. */
export function networkOf(address: string | undefined): string | null {
  const [plain = ''] = (address ?? '').split('%', 1);
  const version = isIP(plain);
  if (version !== 6) return version === 4 ? plain : null;
  const groups = groupsOf(plain);
  const [high = 0, low = 0] = groups.slice(6);
  // RFC 4291 section 2.5.5.2: how a socket for both versions shows an IPv4 address.
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff)
    return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}

/** The eight groups of 16 bits of an IPv6 address. */
function groupsOf(address: string): number[] {
  // The URL standard writes an address without an embedded IPv4 one, and shortens at most one run of zeros.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return [...before, ...zeros, ...after].map((group) => parseInt(group, 16));
}
