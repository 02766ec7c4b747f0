import type { IncomingMessage } from 'node:http';

/** What Express leaves on a request that a route took. */
interface Routed {
  route?: { readonly path: string };
}

/**
 * The pattern of the route that took a request, for example `/api/orders/:order_id`. Null when none did: an unknown
 * path, or a refusal before routing.
 */
export function routeOf(request: IncomingMessage): string | null {
  const path = (request as IncomingMessage & Routed).route?.path;
  // Nest answers for unknown paths by a route `*path`.
  return path?.startsWith('/') === true ? path : null;
}
