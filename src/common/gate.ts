/** Lets a fixed number of tasks run at the same time; the others wait in the order they came. */
export class Gate {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  /** @param places how many tasks may run at once */
  constructor(places: number) {
    this.#free = places;
  }

  /** @returns what the task returns; its failure frees the place as well */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      // A place goes straight to who waits, so that nobody who comes now can take it.
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
