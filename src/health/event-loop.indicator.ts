import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

/** Longest delay at which a process is still worth sending requests to. Milliseconds, 99th percentile. */
export const MAX_DELAY_P99_MS = 500;
const WINDOW_MS = 5000;
const RESOLUTION_MS = 20;
const NS_PER_MS = 1e6;

/**
 * Whether the event loop keeps up. One long turn does not count, a loop that is late again and again for seconds does:
 * judged by the current window and the one before it, 5 to 10 seconds in all.
 */
@Injectable()
export class EventLoopIndicator implements OnModuleInit, OnModuleDestroy {
  readonly #current: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  #formerP99Ms = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly indicators: HealthIndicatorService) {}

  onModuleInit(): void {
    this.#current.enable();
    this.#timer = setInterval(() => {
      this.#formerP99Ms = this.#currentP99Ms();
      this.#current.reset();
    }, WINDOW_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.#timer);
    this.#current.disable();
  }

  check(): HealthIndicatorResult {
    const p99Ms = Math.max(this.#formerP99Ms, this.#currentP99Ms());
    const indicator = this.indicators.check('event_loop');
    return p99Ms <= MAX_DELAY_P99_MS ? indicator.up() : indicator.down();
  }

  #currentP99Ms(): number {
    return this.#current.percentile(99) / NS_PER_MS;
  }
}
