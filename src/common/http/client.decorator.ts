import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import ipaddr from 'ipaddr.js';

/** Client that sends a request. Limits apply to its client address and to its /48 network. */
export interface Client {
  /** IPv4 address, or /64 network of an IPv6 address: a provider assigns at least a /64 to a subscriber. */
  readonly clientAddress: string;
  /** /48 network of an IPv6 address, because some providers assign a /48; absent for an IPv4 address. */
  readonly network48?: string;
  /** Aborted when the response has been sent or the client disconnects; absent if a disconnect must not cancel the work. */
  readonly disconnectSignal?: AbortSignal | undefined;
}

/** An address as some proxies write it, with brackets or a port: `192.0.2.1:4711`, `[2001:db8::1]`, `[2001:db8::1]:4711`. */
const WRAPPED = /^\[(.+)\](?::\d+)?$|^([\d.]+):\d+$/;

/** Injects the client of the request. */
export const CurrentClient = createParamDecorator((_: undefined, context: ExecutionContext): Client => {
  const http = context.switchToHttp();
  return identifyClient(http.getRequest<Request>(), http.getResponse<Response>());
});

/**
 * Returns the client and the signal for `FairQueue.run`. All addresses of a /48 network share one turn, because one subscriber
 * may have the whole network.
 */
export function toTurn({ clientAddress, network48, disconnectSignal }: Client) {
  return { client: network48 ?? clientAddress, disconnectSignal };
}

export function identifyClient({ ip = '' }: Request, response: Response): Client {
  const disconnection = new AbortController();
  response.once('close', () => {
    disconnection.abort();
  });
  if (response.closed) disconnection.abort();
  return { ...parseAddress(ip), disconnectSignal: disconnection.signal };
}

/**
 * Returns the client address and the /48 network of an IP address. Uses a malformed X-Forwarded-For value unchanged, except for
 * brackets and a port.
 */
function parseAddress(ip: string): Client {
  const bare = ip.replace(WRAPPED, '$1$2');
  if (!ipaddr.isValid(bare)) return { clientAddress: bare };
  const address = ipaddr.process(bare);
  if (!(address instanceof ipaddr.IPv6)) return { clientAddress: address.toString() };
  const groups = address.parts.map((group) => group.toString(16));
  return {
    clientAddress: `${groups.slice(0, 4).join(':')}::/64`,
    network48: `${groups.slice(0, 3).join(':')}::/48`,
  };
}
