import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import type { User } from '../api/client';
import { shareBetweenTabs } from './share-between-tabs';
import { toast } from './toast';

interface Person extends User {
  /** Known only after a registration or a verification in this browser. */
  emailVerified?: boolean | undefined;
}

interface Session {
  /** Who is signed in, null for a visitor. The session itself is in cookies that no page can read. */
  person: Person | null;
  /** Whether the person signed out here, rather than in another tab or by the end of the session. */
  hasSignedOut: boolean;
  signIn: (user: User, emailVerified?: boolean) => void;
  signOut: () => void;
  /** For a session that the service has ended. */
  endSession: () => void;
}

export const useSession = create<Session>()(
  persist(
    (set, get) => ({
      person: null,
      hasSignedOut: false,
      signIn: ({ id, fullname, email, role }, emailVerified) => {
        const known = get().person?.id === id ? get().person?.emailVerified : undefined;
        const person = { id, fullname, email, role, emailVerified: emailVerified ?? known };
        set({ person, hasSignedOut: false });
      },
      signOut: () => set({ person: null, hasSignedOut: true }),
      endSession: () => {
        if (get().person === null) return;
        set({ person: null, hasSignedOut: false });
        toast('Your session has ended. Please sign in again.');
      },
    }),
    { name: 'bakery.session', version: 1, partialize: ({ person }) => ({ person }) },
  ),
);

shareBetweenTabs(useSession);

/** Who is signed in, on pages for people with an account. */
export function usePerson() {
  const person = useSession((session) => session.person);
  if (person === null) throw new Error('this page needs RequireUser around it');
  return person;
}
