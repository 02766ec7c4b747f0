import { Navigate, Outlet, useLocation, useSearchParams } from 'react-router';
import { LostPage } from '../pages/lost';
import { useSession } from '../state/session';
import { nextPath } from './next-path';

/** Pages for people with an account. Others sign in first and come back then. */
export function RequireUser() {
  const { person, hasSignedOut } = useSession();
  const { pathname, search } = useLocation();
  if (person !== null) return <Outlet />;
  const login = `/login?next=${encodeURIComponent(pathname + search)}`;
  return <Navigate to={hasSignedOut ? '/' : login} replace />;
}

/** Pages for administrators. For others they do not exist. */
export function RequireAdmin() {
  const isAdmin = useSession(({ person }) => person?.role === 'ADMIN');
  return isAdmin ? <Outlet /> : <LostPage />;
}

/** Pages to sign in and to register. Who is signed in goes on, newly registered people to verify their address. */
export function GuestsOnly() {
  const person = useSession((session) => session.person);
  const [search] = useSearchParams();
  if (person === null) return <Outlet />;
  const next = nextPath(search);
  const verify = `/verify?next=${encodeURIComponent(next)}`;
  return <Navigate to={person.emailVerified === false ? verify : next} replace />;
}
