import type { IncomingMessage } from 'node:http';

/** The pattern of a request's route, such as `/api/orders/:order_id`; null before routing and for an unknown path. */
export function routeOf(request: IncomingMessage & { route?: { readonly path: string } }): string | null {
  const path = request.route?.path;
  // Nest answers for unknown paths by a route `*path`.
  return path?.startsWith('/') === true ? path : null;
}
