import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

/** Longest delay at which a process is still worth sending requests to. Milliseconds, 99th percentile. */
const MAX_DELAY_P99_MS = 500;
const WINDOW_MS = 5000;
const RESOLUTION_MS = 20;
const NS_PER_MS = 1e6;

/**
 * Whether the event loop keeps up, judged by the last whole window: of some 250 turns one long one does not count, a
 * loop that is late again and again does. It shows after 5 to 10 seconds, and passes as soon.
 */
@Injectable()
export class EventLoopIndicator implements OnModuleInit, OnModuleDestroy {
  readonly #current: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  #p99Ms = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly indicators: HealthIndicatorService) {}

  onModuleInit(): void {
    this.#current.enable();
    this.#timer = setInterval(() => {
      this.#p99Ms = this.#current.percentile(99) / NS_PER_MS;
      this.#current.reset();
    }, WINDOW_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.#timer);
    this.#current.disable();
  }

  check(): HealthIndicatorResult {
    const indicator = this.indicators.check('event_loop');
    return this.#p99Ms <= MAX_DELAY_P99_MS ? indicator.up() : indicator.down();
  }
}
