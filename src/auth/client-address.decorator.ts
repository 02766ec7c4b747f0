import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import ipaddr from 'ipaddr.js';

/** An address with the port that some proxies add: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const WITH_PORT = /^\[(.+)\]:\d+$|^([\d.]+):\d+$/;

/** Injects the network of the client as a rate-limit key: an IPv4 address, or the /64 network that one IPv6 customer has. */
export const ClientAddress = createParamDecorator((_: undefined, context: ExecutionContext): string => {
  const request = context.switchToHttp().getRequest<Request>();
  const ip = (request.ip ?? '').replace(WITH_PORT, '$1$2');
  // Malformed X-Forwarded-For values are used unchanged.
  if (!ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  const groups = address.parts.slice(0, 4).map((group) => group.toString(16));
  return `${groups.join(':')}::/64`;
});
