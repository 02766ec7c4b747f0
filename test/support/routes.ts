import type { TestService } from './service.js';

export type HttpMethod = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** Route of the running application, with the path in the syntax of Express: `/api/products/:product_id`. */
export interface Route {
  readonly method: HttpMethod;
  readonly path: string;
}

interface Layer {
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
}

/** Lists all routes of the running Express application, including the pages of the documentation. */
export function listRoutes({ app }: TestService): Route[] {
  const { router } = app.getHttpAdapter().getInstance() as unknown as {
    router: { stack: readonly Layer[] };
  };
  const routes = router.stack.flatMap(({ route }) =>
    route === undefined
      ? []
      : Object.keys(route.methods).map((method) => ({ method: method as HttpMethod, path: route.path })),
  );
  // A route with a middleware has two layers and occurs twice.
  return [...new Map(routes.map((route) => [`${route.method} ${route.path}`, route])).values()];
}

/** Returns true for the documentation and for `/`, which redirects to it. The OpenAPI document describes neither. */
export function isDocumentation(path: string): boolean {
  return path === '/' || /^\/api\/docs([-/]|$)/.test(path);
}
