import type { User } from '../api/client';
import { t } from '../i18n';
import { createSharedStore } from './shared-store';
import { showToast } from './toast';

interface SignedInUser extends User {
  /** Undefined unless the user registered, changed the email or verified the email in this browser. */
  emailVerified?: boolean;
}

interface Session {
  /** Null for a visitor. */
  user: SignedInUser | null;
  /** True after the service has ended the session, until the next sign-in. */
  hasExpired?: boolean;
}

/** Session of this browser. The tokens are in cookies that scripts cannot read. */
export const useSession = createSharedStore<Session>(
  'bakery.session',
  { user: null },
  {
    version: 2,
    // In version 1, the user is called `person`.
    migrate: (stored) => ({ user: (stored as { person: SignedInUser | null }).person }),
  },
);

export function useSignedInUser() {
  const { user } = useSession();
  if (user === null) throw new Error('the route of this page is not inside RequireUser');
  return user;
}

/** Stores the user after a registration, a sign-in, a verification or a change of the profile. */
export function storeUser(user: SignedInUser) {
  // Keep `emailVerified` of the same user: most responses do not contain it.
  useSession.setState(({ user: before }) => ({
    user: before?.id === user.id ? { ...before, ...user } : user,
    hasExpired: false,
  }));
}

/** Forgets the user after a sign-out. */
export function forgetUser() {
  useSession.setState({ user: null });
}

/** Forgets the user after the service has ended the session. Does nothing for a visitor. */
export function handleSessionEnd() {
  if (useSession.getState().user === null) return;
  useSession.setState({ user: null, hasExpired: true });
  showToast(t('account.sessionEnded'));
}
