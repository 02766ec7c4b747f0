import type { IncomingMessage } from 'node:http';

/** Express keeps the matched route on the request. */
interface Routed {
  route?: { readonly path: string };
}

/**
 * The pattern of a request's route, for example `/api/orders/:order_id`. Null without one: an unknown path, or a
 * request that was refused before routing.
 */
export function routeOf(request: IncomingMessage): string | null {
  const path = (request as IncomingMessage & Routed).route?.path;
  // Nest answers for unknown paths by a route `*path`.
  return path?.startsWith('/') === true ? path : null;
}
