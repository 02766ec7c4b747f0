import { useInfiniteQuery } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { Navigate, Outlet, useLocation, useSearchParams } from 'react-router';
import { hasCode } from '../api/errors';
import { productList } from '../api/products';
import { Bars } from '../components/page';
import { LostPage } from '../pages/lost';
import { useSession } from '../state/session';

/** Pages for people with an account. Others sign in first and return to the page afterwards. */
export function RequireUser() {
  const { person } = useSession();
  return person === null ? <ToSignIn /> : <Outlet />;
}

/** Redirects to the sign-in, which leads back to the current page. */
export function ToSignIn() {
  const { pathname, search } = useLocation();
  return <Navigate to={`/login?next=${encodeURIComponent(pathname + search)}`} replace />;
}

interface CatalogPagesProps {
  /** Shown to visitors of a shop whose catalog needs an account. */
  instead: ReactNode;
}

/** Pages of the catalog. Visitors see them if the service returns the catalog without a session. */
export function CatalogPages({ instead }: CatalogPagesProps) {
  const isSignedIn = useSession(({ person }) => person !== null);
  const { data, error } = useInfiniteQuery({ ...productList(), enabled: !isSignedIn });
  if (isSignedIn || data) return <Outlet />;
  if (hasCode(error, 401) || hasCode(error, 400)) return instead;
  // Another failure is shown by the page itself, which has a button to try again.
  return error ? <Outlet /> : <Bars />;
}

/** Pages for administrators. Others see "not found". */
export function RequireAdmin() {
  const { person } = useSession();
  return person?.role === 'ADMIN' ? <Outlet /> : <LostPage />;
}

/** Pages for signing in and registering. Redirects signed-in people, new ones to the verification first. */
export function GuestsOnly() {
  const { person } = useSession();
  const next = useNextPath();
  if (person === null) return <Outlet />;
  const verify = `/verify?next=${encodeURIComponent(next)}`;
  return <Navigate to={person.emailVerified === false ? verify : next} replace />;
}

/** Path after signing in: `?next=` if it is a path of this shop, otherwise the person's start page. */
export function useNextPath() {
  const [search] = useSearchParams();
  const role = useSession(({ person }) => person?.role);
  const next = search.get('next') ?? '/';
  const start = role === 'ADMIN' ? '/manage/today' : '/';
  // Allow only names between single slashes. `//host` and `/.//host` would lead to another host.
  return /^(\/[\w-]+)+(\?.*)?$/.test(next) && !/^\/(login|register)\b/.test(next) ? next : start;
}
