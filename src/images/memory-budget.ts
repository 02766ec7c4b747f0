/** How many bytes of uploads the process keeps in memory. */
export class MemoryBudget {
  #left: number;

  /** @param bytes that may be taken at the same time */
  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** @returns false when so many are not left; nothing is taken then */
  take(bytes: number): boolean {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#left += bytes;
  }
}
