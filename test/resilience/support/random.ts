import { createHash } from 'node:crypto';

/** Randomness that is the same for the same RESILIENCE_SEED and name. */
export class Random {
  #state: number;

  constructor(name: string) {
    const seed = process.env.RESILIENCE_SEED ?? '';
    this.#state = createHash('sha256').update(`${seed}:${name}`).digest().readUInt32LE();
  }

  /** Within [0, 1). Mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Whole, both ends included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    const picked = list[Math.floor(this.next() * list.length)];
    if (picked === undefined) throw new RangeError('nothing to pick from');
    return picked;
  }
}
