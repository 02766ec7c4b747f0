/**
 * Where to go on after signing in: the path in `?next=` if it is one of this shop, else the catalog. The path alone
 * must lead back here, too: `/.//host` is a path of this origin, but what it resolves to, `//host`, is another host.
 */
export function nextPath(search: URLSearchParams): string {
  const url = URL.parse(search.get('next') ?? '/', location.origin);
  if (url?.origin !== location.origin) return '/';
  const path = url.pathname + url.search;
  const isOwn = URL.parse(path, location.origin)?.origin === location.origin;
  return isOwn && !/^\/(login|register)\b/.test(path) ? path : '/';
}
