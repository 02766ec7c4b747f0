import type { User } from '../api/client';
import { sharedStore } from './shared-store';
import { toast } from './toast';

interface Person extends User {
  /** Known only after a registration or verification in this browser. */
  emailVerified?: boolean;
}

/** Person who is signed in, null for a visitor. The session itself is in cookies that pages cannot read. */
export const useSession = sharedStore<{ person: Person | null }>('bakery.session', { person: null });

/** Person who is signed in, for pages inside `RequireUser`. */
export function usePerson() {
  const { person } = useSession();
  if (person === null) throw new Error('this page needs RequireUser around it');
  return person;
}

/** Stores the person after a sign-in or a change of the profile. */
export function signIn(user: Person) {
  // Do not mix in fields of another person.
  useSession.setState(({ person }) => ({ person: person?.id === user.id ? { ...person, ...user } : user }));
}

export function signOut() {
  useSession.setState({ person: null });
}

/** Handles a session that the service has ended. */
export function endSession() {
  if (useSession.getState().person === null) return;
  signOut();
  toast('Your session has ended. Please sign in again.');
}
