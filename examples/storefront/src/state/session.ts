import type { User } from '../api/client';
import { createSharedStore } from './shared-store';
import { toast } from './toast';
import { t } from '../i18n';

interface Person extends User {
  /** Undefined unless the person registered, changed the email or verified the email in this browser. */
  emailVerified?: boolean;
}

/** Person who is signed in, or null for a visitor. The tokens are in cookies that scripts cannot read. */
export const useSession = createSharedStore<{ person: Person | null }>('bakery.session', { person: null });

export function usePerson() {
  const { person } = useSession();
  if (person === null) throw new Error('this page needs RequireUser around it');
  return person;
}

/** Stores the person after a registration, a sign-in, a verification or a change of the profile. */
export function storePerson(user: Person) {
  // Keep `emailVerified` of the same person: most responses do not contain it.
  useSession.setState(({ person }) => ({ person: person?.id === user.id ? { ...person, ...user } : user }));
}

export function forgetPerson() {
  useSession.setState({ person: null });
}

/** Forgets the person after the service has ended the session. Does nothing for a visitor. */
export function endSession() {
  if (useSession.getState().person === null) return;
  forgetPerson();
  toast(t('account.sessionEnded'));
}
