import { isObject, Stored } from './stored.js';

/** Who is signed in, as far as pages show it. The session itself is in cookies that no page can read. */
export interface Person {
  readonly id: number;
  readonly fullname: string;
  readonly email: string;
  readonly role: 'USER' | 'ADMIN';
  /** Known only after registration or verification in this browser. */
  readonly emailVerified?: boolean;
}

/** The service answers with the role as text. */
export interface PersonAnswer {
  readonly id: number;
  readonly fullname: string;
  readonly email: string;
  readonly role: string;
}

export const session = new Stored<Person | null>('bakery.person', (value) => {
  if (!isObject(value) || typeof value.id !== 'number' || typeof value.fullname !== 'string') return null;
  if (typeof value.email !== 'string') return null;
  return {
    id: value.id,
    fullname: value.fullname,
    email: value.email,
    role: value.role === 'ADMIN' ? 'ADMIN' : 'USER',
    ...(typeof value.emailVerified === 'boolean' && { emailVerified: value.emailVerified }),
  };
});

export function signIn({ id, fullname, email, role }: PersonAnswer, emailVerified?: boolean): void {
  session.set({
    id,
    fullname,
    email,
    role: role === 'ADMIN' ? 'ADMIN' : 'USER',
    ...(emailVerified !== undefined && { emailVerified }),
  });
}

const farewells = new Set<() => void>();

/** Calls when the service has ended the session; not when the person signed out. */
export function onSessionEnded(listener: () => void): void {
  farewells.add(listener);
}

export function sessionEnded(): void {
  if (session.get() === null) return;
  session.set(null);
  for (const listener of farewells) listener();
}
