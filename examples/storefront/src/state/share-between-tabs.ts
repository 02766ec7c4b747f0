interface PersistedStore {
  readonly persist: { getOptions(): { name?: string }; rehydrate(): Promise<void> | void };
}

/** Keeps a store that is persisted in localStorage the same in all tabs. */
export function shareBetweenTabs({ persist }: PersistedStore): void {
  window.addEventListener('storage', ({ key }) => {
    if (key === persist.getOptions().name) void persist.rehydrate();
  });
}
