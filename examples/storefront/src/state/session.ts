import type { User } from '../api/client';
import { createSharedStore } from './shared-store';
import { showToast } from './toast';
import { t } from '../i18n';

interface SignedInUser extends User {
  /** Undefined unless the user registered, changed the email or verified the email in this browser. */
  emailVerified?: boolean;
}

/** Signed-in user, or null for a visitor. The tokens are in cookies that scripts cannot read. */
export const useSession = createSharedStore<{ person: SignedInUser | null }>('bakery.session', {
  person: null,
});

export function useSignedInUser() {
  const { person } = useSession();
  if (person === null) throw new Error('this page needs RequireUser around it');
  return person;
}

/** Stores the user after a registration, a sign-in, a verification or a change of the profile. */
export function storeUser(user: SignedInUser) {
  // Keep `emailVerified` of the same user: most responses do not contain it.
  useSession.setState(({ person }) => ({ person: person?.id === user.id ? { ...person, ...user } : user }));
}

export function forgetUser() {
  useSession.setState({ person: null });
}

/** Forgets the user after the service has ended the session. Does nothing for a visitor. */
export function handleSessionEnd() {
  if (useSession.getState().person === null) return;
  forgetUser();
  showToast(t('account.sessionEnded'));
}
