import { create } from 'zustand';
import { persist } from 'zustand/middleware';

/** A store in localStorage: it survives reloads and is the same in all tabs. */
export function sharedStore<State extends object>(name: string, initial: State) {
  const store = create<State>()(persist(() => initial, { name, version: 1 }));
  window.addEventListener('storage', ({ key }) => {
    if (key === name) void store.persist.rehydrate();
  });
  return store;
}
