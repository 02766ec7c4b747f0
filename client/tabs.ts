/** What a browser offers its tabs in common. Elsewhere, in Node or a worker, some of it is not there. */
interface Shared {
  readonly navigator?: {
    readonly locks?: { request<T>(name: string, run: () => Promise<T>): Promise<T> };
  };
  readonly localStorage?: {
    getItem(key: string): string | null;
    setItem(key: string, value: string): void;
  };
}

/** Runs one at a time over all tabs of the origin; without locks, at once. */
export function acrossTabs<T>(name: string, run: () => Promise<T>): Promise<T> {
  const { locks } = (globalThis as Shared).navigator ?? {};
  return locks === undefined ? run() : locks.request(`bakery-client ${name}`, run);
}

/** When a tab last renewed the session, in milliseconds since 1970; 0 when that is not known. */
export function lastRefreshElsewhere(name: string): number {
  const time = Number(storage()?.getItem(keyOf(name)) ?? 0);
  // The clock may have been put back since.
  return time <= Date.now() ? time : 0;
}

export function rememberRefresh(name: string, time: number): void {
  try {
    storage()?.setItem(keyOf(name), String(time));
  } catch {
    // A full storage only costs the other tabs a refresh of their own.
  }
}

function storage(): Shared['localStorage'] {
  try {
    return (globalThis as Shared).localStorage;
  } catch {
    // Browsers throw where a person has forbidden storage.
    return undefined;
  }
}

function keyOf(name: string): string {
  return `bakery-client refreshed ${name}`;
}
