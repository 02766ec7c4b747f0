import { create } from 'zustand';
import { persist } from 'zustand/middleware';

/** Creates a store in localStorage. It survives reloads and is shared by all tabs. */
export function createSharedStore<State extends object>(name: string, initial: State) {
  const store = create<State>()(persist(() => initial, { name, version: 1 }));
  window.addEventListener('storage', ({ key }) => {
    if (key === name) void store.persist.rehydrate();
  });
  return store;
}
