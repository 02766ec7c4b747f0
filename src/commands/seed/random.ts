/** Generator of pseudorandom numbers (mulberry32). The same seed gives the same numbers on every machine. */
export class Random {
  /** @param state the seed: a whole number */
  constructor(private state: number) {}

  /** Returns a number from 0 to below 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns a whole number from `lowest` to `highest`. */
  between(lowest: number, highest: number): number {
    return lowest + Math.floor(this.next() * (highest - lowest + 1));
  }

  pick<T>(list: readonly T[]): T {
    return list[this.between(0, list.length - 1)] as T;
  }

  /** Returns a copy of the list in random order. */
  shuffle<T>(list: readonly T[]): T[] {
    const keyed = list.map((item) => ({ item, key: this.next() }));
    return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
  }
}
