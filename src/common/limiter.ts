import { failures } from './errors.js';

/** Limits the number of tasks that run at a time. Further tasks wait in order. Rejects a task if too many wait already. */
export class Limiter {
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(
    private readonly concurrency: number,
    private readonly maxWaiting: number,
  ) {}

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running < this.concurrency) this.#running += 1;
    else if (this.#waiting.length < this.maxWaiting)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else throw failures.unavailable(`${this.maxWaiting} tasks wait already`);
    try {
      return await task();
    } finally {
      // The next waiting task runs in place of this one, so the number of running tasks stays the same.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
