import { create } from 'zustand';
import { persist, type PersistOptions } from 'zustand/middleware';

/**
 * Creates a store in localStorage, which all tabs share. The store keeps its state until the site data is cleared.
 * @param format version of the state, and a function that migrates the state of earlier versions
 */
export function createSharedStore<State extends object>(
  name: string,
  initial: State,
  format: Pick<PersistOptions<State>, 'version' | 'migrate'> = { version: 1 },
) {
  const store = create<State>()(persist(() => initial, { name, ...format }));
  window.addEventListener('storage', ({ key }) => {
    if (key === name) void store.persist.rehydrate();
  });
  return store;
}
