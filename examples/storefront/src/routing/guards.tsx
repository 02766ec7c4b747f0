import { useInfiniteQuery } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import { Navigate, Outlet, useLocation, useNavigate, useSearchParams } from 'react-router';
import { hasCode } from '../api/errors';
import { productList } from '../api/products';
import { queryClient } from '../api/query-client';
import { Skeleton } from '../components/loaded';
import { t } from '../i18n';
import { NotFoundPage } from '../pages/not-found';
import { getPageUser, usePageUser, useSession } from '../state/session';
import { showToast } from '../state/toast';

// In the script that every page inside `RequireUser` has already loaded.
const SignInAgain = lazy(() => import('../components/sign-in-again'));

/**
 * Redirects visitors to the sign-in. If the service ends the session while a page is open, the page stays as it is behind a dialog
 * that asks for the password, so that nothing typed is lost.
 */
export function RequireUser() {
  const hasEnded = useSession(({ user }) => user === null);
  const [wasSignedIn] = useState(!hasEnded);
  if (useSession(getPageUser) === null || !wasSignedIn) return <RedirectToSignIn />;
  return (
    <>
      <Outlet />
      <Suspense>{hasEnded && <SignInAgain />}</Suspense>
    </>
  );
}

export function RedirectToSignIn() {
  return <Navigate to={useSignInPath()} replace />;
}

/** Redirects to the sign-in when the service ends the session. */
function useRedirectAtSessionEnd() {
  const navigate = useNavigate();
  const signInPath = useSignInPath();
  useEffect(
    () =>
      useSession.subscribe(({ user, endedUser }, previous) => {
        if (user !== null || !endedUser || previous.user === null) return;
        // A visitor must not see cached responses of the user.
        queryClient.clear();
        showToast(t('account.sessionEnded'));
        void navigate(signInPath, { replace: true });
      }),
    [navigate, signInPath],
  );
}

/** Returns the path of the sign-in, or of the page for a forgotten password, that leads back to the current page. */
export function useSignInPath(page: 'login' | 'forgot' = 'login') {
  const { pathname, search } = useLocation();
  // Both pages have a `next` of their own. Keep it.
  if (/^\/(login|register)$/.test(pathname)) return `/${page}${search}`;
  return `/${page}?next=${encodeURIComponent(pathname + search)}`;
}

interface RequireCatalogAccessProps {
  /** Shown to visitors of a shop whose catalog needs an account. */
  fallback: ReactNode;
}

/** Shows a route to users, and to visitors if the catalog is public. Redirects to the sign-in when the session ends. */
export function RequireCatalogAccess({ fallback }: RequireCatalogAccessProps) {
  useRedirectAtSessionEnd();
  const isSignedIn = useSession(({ user }) => user !== null);
  // Visitors can load the product list only if the catalog is public.
  const { data, error } = useInfiniteQuery({ ...productList(), enabled: !isSignedIn });
  if (isSignedIn || data) return <Outlet />;
  // 401: there is no session. 400: the access token is malformed.
  if (hasCode(error, 401) || hasCode(error, 400)) return fallback;
  // Pages show other failures themselves, with a button to try again.
  return error ? <Outlet /> : <Skeleton />;
}

/** Shows "not found" to everybody except administrators. */
export function RequireAdmin() {
  return usePageUser().role === 'ADMIN' ? <Outlet /> : <NotFoundPage />;
}

/** Redirects users to the next path. Users with an unverified email go to the verification first. */
export function RequireVisitor() {
  const { user } = useSession();
  const next = useNextPath();
  if (user === null) return <Outlet />;
  const verify = `/verify?next=${encodeURIComponent(next)}`;
  return <Navigate to={user.emailVerified === false ? verify : next} replace />;
}

/** Returns the path to open after the sign-in: `?next=` if it is in this shop, otherwise the start page of the user. */
export function useNextPath() {
  const [parameters] = useSearchParams();
  const role = useSession(({ user }) => user?.role);
  const next = parameters.get('next') ?? '';
  const start = role === 'ADMIN' ? '/manage/today' : '/';
  // Allow only names between single slashes, and a search of the catalog: `/?q=`. `//host` and `/.//host` would lead to another
  // host. The sign-in and the registration are not allowed, because they would redirect again.
  return /^(\/[\w-]+)+(\?.*)?$|^\/\?/.test(next) && !/^\/(login|register)\b/.test(next) ? next : start;
}
