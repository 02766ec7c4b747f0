import type { User } from '../api/client';
import { sharedStore } from './shared-store';
import { toast } from './toast';

interface Person extends User {
  /** Known only after a registration or a verification in this browser. */
  emailVerified?: boolean;
}

/** Who is signed in, null for a visitor. The session itself is in cookies that no page can read. */
export const useSession = sharedStore<{ person: Person | null }>('bakery.session', { person: null });

/** Who is signed in, on pages for people with an account. */
export function usePerson() {
  const { person } = useSession();
  if (person === null) throw new Error('this page needs RequireUser around it');
  return person;
}

/** Notes who has signed in, or what has changed about them. */
export function signIn(user: Person) {
  // When somebody else signs in, nothing of the person before is kept.
  useSession.setState(({ person }) => ({ person: person?.id === user.id ? { ...person, ...user } : user }));
}

export function signOut() {
  useSession.setState({ person: null });
}

/** For a session that the service has ended. */
export function endSession() {
  if (useSession.getState().person === null) return;
  signOut();
  toast('Your session has ended. Please sign in again.');
}
