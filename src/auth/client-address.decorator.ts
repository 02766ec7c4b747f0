import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import ipaddr from 'ipaddr.js';

/** An address with the port that some proxies add: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const WITH_PORT = /^\[(.+)\]:\d+$|^([\d.]+):\d+$/;

/** Injects the network of the client as a rate-limit key: an IPv4 address, or the /64 network that one IPv6 customer has. */
export const ClientAddress = createParamDecorator((_: undefined, context: ExecutionContext): string => {
  const { ip = '' } = context.switchToHttp().getRequest<Request>();
  return toNetwork(ip.replace(WITH_PORT, '$1$2'));
});

/** Returns malformed X-Forwarded-For values unchanged. */
function toNetwork(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip;
  // Converts an IPv4 address that is written as an IPv6 address (RFC 4291, 2.5.5.2).
  const address = ipaddr.process(ip);
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  const groups = address.parts.slice(0, 4).map((group) => group.toString(16));
  return `${groups.join(':')}::/64`;
}
