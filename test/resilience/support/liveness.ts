import { setTimeout as delay } from 'node:timers/promises';

const INTERVAL_MS = 50;
/** A probe that takes longer counts as failed, as a supervisor would count it. */
const PROBE_DEADLINE_MS = 2_000;

/** Asks a service again and again whether it lives. */
export class LivenessWatch {
  probes = 0;
  slowestMs = 0;
  readonly failures: string[] = [];
  readonly #stop = new AbortController();
  readonly #watching: Promise<void>;

  constructor(private readonly url: string) {
    this.#watching = this.#watch();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#watching;
  }

  async #watch(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const began = performance.now();
      this.probes += 1;
      try {
        const { status } = await fetch(`${this.url}/api/health/live`, {
          signal: AbortSignal.timeout(PROBE_DEADLINE_MS),
        });
        if (status !== 200) this.failures.push(`answered ${status}`);
      } catch (error) {
        this.failures.push(String(error));
      }
      this.slowestMs = Math.max(this.slowestMs, performance.now() - began);
      await delay(INTERVAL_MS);
    }
  }
}
