import type { Response } from 'express';
import { failures } from '../common/errors.js';

/** Lets a fixed number of forms be handled at the same time; the others wait in the order in which they came. */
export class FormQueue {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(places: number) {
    this.#free = places;
  }

  /**
   * Waits for a place, which the caller has to give back with `leave`.
   * @throws Failure when the client closes the connection while it waits; there is no place to give back then
   */
  async enter(response: Response): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const begin = (): void => {
        response.off('close', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        reject(failures.malformedRequest());
      };
      response.once('close', giveUp);
      this.#waiting.push(begin);
    });
  }

  /** Gives the place to the next form that waits. */
  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}
