import type { User } from '../api/client';
import { createSharedStore } from './shared-store';

interface SignedInUser extends User {
  /** Undefined unless the user registered, changed the email or verified the email in this browser. */
  emailVerified?: boolean;
}

interface Session {
  /** Null for a visitor. */
  user: SignedInUser | null;
  /** User whose session the service has ended. Null from the next sign-in or sign-out on. */
  endedUser?: SignedInUser | null;
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

/** Returns the user whose pages are open: these pages stay open after the service has ended the session. */
export function getPageUser({ user, endedUser }: Session) {
  return user ?? endedUser ?? null;
}

export function usePageUser() {
  const user = useSession(getPageUser);
  if (user === null) throw new Error('the route of this page is not inside RequireUser');
  return user;
}

/** Stores the user after a registration, a sign-in, a verification or a change of the profile. */
export function storeUser(user: SignedInUser) {
  // Keep `emailVerified` of the same user: most responses do not contain it.
  useSession.setState((session) => {
    const before = getPageUser(session);
    return { user: before?.id === user.id ? { ...before, ...user } : user, endedUser: null };
  });
}

/** Forgets the user after a sign-out. */
export function forgetUser() {
  useSession.setState({ user: null, endedUser: null });
}

/** Makes the user a visitor after the service has ended the session. Does nothing for a visitor. */
export function handleSessionEnd() {
  const { user } = useSession.getState();
  if (user !== null) useSession.setState({ user: null, endedUser: user });
}
