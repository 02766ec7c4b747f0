import { createHash } from 'node:crypto';

const TICK_MS = 10;
/** Longest time between two ticks that counts in full. A longer time is a pause of the machine. */
const MAX_TICK_MS = 100;

/**
 * Clock of which a pause of this process counts at most `MAX_TICK_MS`, because a busy machine can pause a process for seconds.
 * After a pause, the clock shows less than the elapsed time: compare its times with upper limits only.
 */
export class RunningClock {
  #runningMs = 0;
  #tickedAt = performance.now();
  readonly #timer = setInterval(() => this.now(), TICK_MS).unref();

  /** Returns the milliseconds since the clock was created. */
  now(): number {
    const at = performance.now();
    this.#runningMs += Math.min(at - this.#tickedAt, MAX_TICK_MS);
    this.#tickedAt = at;
    return this.#runningMs;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

/** Measures an action with a `RunningClock`. */
export async function measureRunning<T>(
  act: () => PromiseLike<T>,
): Promise<{ readonly result: T; readonly runningMs: number }> {
  const clock = new RunningClock();
  try {
    const result = await act();
    return { result, runningMs: clock.now() };
  } finally {
    clock.stop();
  }
}

/** Measures the elapsed time of an action: compare it with lower limits only, because a busy machine can pause a process. */
export async function measureMs(act: () => PromiseLike<unknown>): Promise<number> {
  const startedAt = performance.now();
  await act();
  return performance.now() - startedAt;
}

/** Measures the CPU time that this process, and so also a service in this process, uses during an action. */
export async function measureCpuMs(act: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await act();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** CPU time of `runReferenceTask` on the machine for which the limits of the tests were chosen. */
const REFERENCE_MS = 20;
const REFERENCE_TEXT = JSON.stringify(
  Object.fromEntries(Array.from({ length: 8_000 }, (_, n) => [`key ${n}`, 'é'.repeat(4)])),
);

/** Returns by which factor this machine is slower than the machine for which the limits of the tests were chosen; at least 1. */
export async function measureSlowness(): Promise<number> {
  const times: number[] = [];
  // The fastest run is the least affected by other processes.
  while (times.length < 5) times.push(await measureCpuMs(runReferenceTask));
  return Math.max(1, Math.min(...times) / REFERENCE_MS);
}

/** Parses, searches and hashes a text, as a service does with a request. */
function runReferenceTask(): void {
  for (let run = 0; run < 4; run += 1) {
    const parsed = JSON.stringify(JSON.parse(REFERENCE_TEXT)).normalize('NFD').replaceAll(/\d+/g, 'x');
    createHash('sha512').update(parsed).digest();
  }
}

/** Returns the middle of the sorted numbers, the upper one of two; Infinity for an empty list. */
export function findMedian(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Infinity;
}
