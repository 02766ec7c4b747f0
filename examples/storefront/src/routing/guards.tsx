import { Navigate, Outlet, useLocation, useSearchParams } from 'react-router';
import { LostPage } from '../pages/lost';
import { useSession } from '../state/session';

/** Pages for people with an account. Others sign in first and come back then. */
export function RequireUser() {
  const { person } = useSession();
  const { pathname, search } = useLocation();
  if (person !== null) return <Outlet />;
  return <Navigate to={`/login?next=${encodeURIComponent(pathname + search)}`} replace />;
}

/** Pages for administrators. For others they do not exist. */
export function RequireAdmin() {
  const { person } = useSession();
  return person?.role === 'ADMIN' ? <Outlet /> : <LostPage />;
}

/** Pages to sign in and to register. Who is signed in goes on, newly registered people to verify their address. */
export function GuestsOnly() {
  const { person } = useSession();
  const next = useNextPath();
  if (person === null) return <Outlet />;
  const verify = `/verify?next=${encodeURIComponent(next)}`;
  return <Navigate to={person.emailVerified === false ? verify : next} replace />;
}

/** Where to go on after signing in: the path in `?next=` if it is one of this shop, else the catalog. */
export function useNextPath() {
  const [search] = useSearchParams();
  const next = search.get('next') ?? '/';
  // Only names between single slashes: others can lead to another host, as `//host` and `/.//host` do.
  return /^(\/[\w-]+)+(\?.*)?$/.test(next) && !/^\/(login|register)\b/.test(next) ? next : '/';
}
