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
  signIn: (user: User, emailVerified?: boolean) => void;
  signOut: () => void;
  /** For a session that the service has ended. */
  endSession: () => void;
}

export const useSession = create<Session>()(
  persist(
    (set, get) => ({
      person: null,
      signIn: ({ id, fullname, email, role }, emailVerified) => {
        const known = get().person?.id === id ? get().person?.emailVerified : undefined;
        const person = { id, fullname, email, role, emailVerified: emailVerified ?? known };
        set({ person });
      },
      signOut: () => set({ person: null }),
      endSession: () => {
        if (get().person === null) return;
        set({ person: null });
        toast('Your session has ended. Please sign in again.');
      },
    }),
    { name: 'bakery.session', version: 1 },
  ),
);

shareBetweenTabs(useSession);

/** Who is signed in, on pages for people with an account. */
export function usePerson() {
  const person = useSession((session) => session.person);
  if (person === null) throw new Error('this page needs RequireUser around it');
  return person;
}
