import type { TestService } from './service.js';

export type HttpMethod = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** A route of the running application, `path` as Express writes it: `/api/products/:product_id`. */
export interface Route {
  readonly method: HttpMethod;
  readonly path: string;
}

interface Layer {
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
}

/** What the running Express application would route to a handler, the pages of the documentation included. */
export function routesOf({ app }: TestService): Route[] {
  const { router } = app.getHttpAdapter().getInstance() as unknown as {
    router: { stack: readonly Layer[] };
  };
  const routes = router.stack.flatMap(({ route }) =>
    route === undefined
      ? []
      : Object.keys(route.methods).map((method) => ({ method: method as HttpMethod, path: route.path })),
  );
  // A middleware of a route is a layer of its own.
  return [...new Map(routes.map((route) => [`${route.method} ${route.path}`, route])).values()];
}

/** Whether a path belongs to the pages beside the API, which the OpenAPI document does not describe. */
export function isDocumentation(path: string): boolean {
  return path === '/' || path === '/api/docs' || /^\/api\/docs[-/]/.test(path);
}
