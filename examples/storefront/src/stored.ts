/**
 * A value in localStorage that all tabs share. What is stored may be from another version or from anybody's hand, so it
 * is checked on every reading.
 */
export class Stored<T> {
  readonly #key: string;
  readonly #parse: (value: unknown) => T;
  readonly #listeners = new Set<() => void>();

  /** @param parse makes a value of whatever was stored, null if nothing was */
  constructor(key: string, parse: (value: unknown) => T) {
    this.#key = key;
    this.#parse = parse;
    // Other tabs; `key` is null when all was cleared.
    window.addEventListener('storage', (event) => {
      if (event.key === this.#key || event.key === null) this.#tell();
    });
  }

  get(): T {
    const text = localStorage.getItem(this.#key);
    try {
      return this.#parse(text === null ? null : (JSON.parse(text) as unknown));
    } catch {
      // Not JSON: as good as nothing.
      return this.#parse(null);
    }
  }

  set(value: T | null): void {
    if (value === null) localStorage.removeItem(this.#key);
    else localStorage.setItem(this.#key, JSON.stringify(value));
    this.#tell();
  }

  /** Calls when the value has changed, in this tab or another, until the signal aborts. */
  watch(listener: () => void, signal?: AbortSignal): void {
    this.#listeners.add(listener);
    signal?.addEventListener('abort', () => this.#listeners.delete(listener));
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
