import { dataOf } from 'bakery-client';
import { api } from './api.js';
import { session } from './session.js';
import { toast } from './ui/messages.js';

/** Ends the session at the service, and in every tab. */
export async function signOut(): Promise<void> {
  try {
    await dataOf(api.POST('/api/logout'));
  } catch {
    // Still signed in, and the person should know.
    toast('You could not be signed out. Check your connection and try again.');
    return;
  }
  history.replaceState(null, '', '/');
  session.set(null);
}
