import { create } from 'zustand';
import { persist } from 'zustand/middleware';

/** Creates a store in localStorage. All tabs share the store. It keeps its state until the site data is cleared. */
export function createSharedStore<State extends object>(name: string, initial: State) {
  const store = create<State>()(persist(() => initial, { name, version: 1 }));
  window.addEventListener('storage', ({ key }) => {
    if (key === name) void store.persist.rehydrate();
  });
  return store;
}
