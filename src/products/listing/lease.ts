/**
 * How long answers of the past may be trusted: until a time after the last moment of which a neighbour has told
 * everything. Held by two clocks, of which one stops while the machine sleeps and the other can be set.
 */
export class Lease {
  #monotonic = -Infinity;
  #wall = -Infinity;

  constructor(private readonly milliseconds: number) {}

  /** Extends the lease once everything up to a moment is known. */
  renew(known: Moment): void {
    this.#monotonic = known.monotonic;
    this.#wall = known.wall;
  }

  end(): void {
    this.#monotonic = -Infinity;
    this.#wall = -Infinity;
  }

  get isHeld(): boolean {
    return (
      performance.now() - this.#monotonic < this.milliseconds && Date.now() - this.#wall < this.milliseconds
    );
  }
}

/** A moment by both clocks, in milliseconds. */
export interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

export function now(): Moment {
  return { monotonic: performance.now(), wall: Date.now() };
}
