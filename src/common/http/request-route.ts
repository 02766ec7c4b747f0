import type { IncomingMessage } from 'node:http';

/** Returns the pattern of a request's route, such as `/api/orders/:order_id`; null before routing and for unknown paths. */
export function routeOf(request: IncomingMessage & { route?: { readonly path: string } }): string | null {
  const path = request.route?.path;
  // Nest handles unknown paths with a route `*path`.
  return path?.startsWith('/') === true ? path : null;
}
