import type { Response } from 'express';
import { failures } from '../common/errors.js';

/** Limits the memory of forms that are processed at the same time. Further forms wait in order of arrival. */
export class FormQueue {
  #waiting: { readonly bytes: number; readonly begin: () => void }[] = [];

  /** @param freeBytes memory for all forms. A form with more bytes would wait forever. */
  constructor(private freeBytes: number) {}

  /**
   * Waits until a form fits and reserves its bytes. The caller must release the bytes with `leave`.
   * @throws Failure if the client closes the connection while the form waits; nothing is reserved then
   */
  async enter(bytes: number, response: Response): Promise<void> {
    await new Promise<void>((begin, reject) => {
      const form = { bytes, begin };
      this.#waiting.push(form);
      // After `begin`, this listener changes nothing: the form is no longer in the queue.
      response.once('close', () => {
        this.#waiting = this.#waiting.filter((other) => other !== form);
        reject(failures.malformedRequest());
        this.#beginNext();
      });
      this.#beginNext();
    });
  }

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
