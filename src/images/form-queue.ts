import type { Response } from 'express';
import { failures } from '../common/errors.js';

/** Bounds the bytes of the forms that are handled at the same time; the others wait in the order in which they came. */
export class FormQueue {
  readonly #waiting: { readonly bytes: number; readonly begin: () => void }[] = [];

  /** @param freeBytes at least as many as the largest form has */
  constructor(private freeBytes: number) {}

  /**
   * Waits until a form fits, whose bytes the caller has to give back with `leave`.
   * @throws Failure when the client closes the connection while it waits; there is nothing to give back then
   */
  async enter(bytes: number, response: Response): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(form), 1);
        reject(failures.malformedRequest());
        this.#beginNext();
      };
      const begin = (): void => {
        response.off('close', giveUp);
        resolve();
      };
      const form = { bytes, begin };
      response.once('close', giveUp);
      this.#waiting.push(form);
      this.#beginNext();
    });
  }

  /** Gives bytes back, for forms that wait. */
  leave(bytes: number): void {
    this.freeBytes += bytes;
    this.#beginNext();
  }

  #beginNext(): void {
    for (let next = this.#waiting[0]; next && next.bytes <= this.freeBytes; next = this.#waiting[0]) {
      this.freeBytes -= next.bytes;
      this.#waiting.shift();
      next.begin();
    }
  }
}
