import { Navigate, Outlet, useLocation } from 'react-router';
import { LostPage } from '../pages/lost';
import { useSession } from '../state/session';

/** Pages for people with an account. Others sign in first and come back then. */
export function RequireUser() {
  const { person } = useSession();
  const { pathname, search } = useLocation();
  if (person !== null) return <Outlet />;
  return <Navigate to="/login" state={{ next: pathname + search }} replace />;
}

/** Pages for administrators. For others they do not exist. */
export function RequireAdmin() {
  const isAdmin = useSession(({ person }) => person?.role === 'ADMIN');
  return isAdmin ? <Outlet /> : <LostPage />;
}

/** Pages to sign in and to register. Who is signed in goes on, newly registered people to verify their address. */
export function GuestsOnly() {
  const person = useSession((session) => session.person);
  const next = useNextPath();
  if (person === null) return <Outlet />;
  return <Navigate to={person.emailVerified === false ? '/verify' : next} state={{ next }} replace />;
}

/** Where to go on after signing in. It is not in the address, so that no link can lead to another site. */
export function useNextPath() {
  const state = useLocation().state as { next?: string } | null;
  return state?.next ?? '/';
}
