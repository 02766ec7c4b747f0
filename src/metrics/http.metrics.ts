import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Counter, Histogram } from 'prom-client';
import { HttpAdapter } from '../common/http-adapter.js';
import { routeOf } from '../common/request-observer.js';
import { secondsSince } from '../common/telemetry.js';
import { MetricsRegistry } from './metrics.registry.js';

/** Those of OpenTelemetry's convention, and one below for answers from memory. Seconds. */
const BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** What the convention calls every other method. */
const OTHER_METHOD = '_OTHER';
/** One value for whatever no route took: paths are the callers' to make up. */
const NO_ROUTE = 'none';
/** What nginx calls a caller who left before the answer began; nothing is sent under it. */
const CALLER_LEFT = 499;
/** With which unparsable requests are refused; a series that begins at 1 has no rate. */
const REFUSALS = [400, 408, 413, 431];

/**
 * Every request by route pattern, those answered in front of Express or refused before routing included.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/http/http-metrics/#metric-httpserverrequestduration
 */
@Injectable()
export class HttpMetrics implements OnApplicationBootstrap {
  readonly #durations: Histogram<'http_request_method' | 'http_route' | 'http_response_status_code'>;
  readonly #unparsable: Counter<'http_response_status_code'>;
  /** By route, method and status, as looking up labels costs more than counting. */
  readonly #series = new Map<string, { observe(seconds: number): void }>();

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    { registry }: MetricsRegistry,
  ) {
    this.#durations = new Histogram({
      name: 'http_server_request_duration_seconds',
      help: 'Time from the parsed headers of a request to the end of its answer; status 499: the caller left',
      labelNames: ['http_request_method', 'http_route', 'http_response_status_code'],
      buckets: BUCKETS,
      registers: [registry],
    });
    this.#unparsable = new Counter({
      name: 'http_server_unparsable_requests_total',
      help: 'Requests refused because they were no HTTP, too large in their headers or too slow, by status',
      labelNames: ['http_response_status_code'],
      registers: [registry],
    });
    for (const status of REFUSALS) this.#unparsable.inc({ http_response_status_code: status }, 0);
  }

  onApplicationBootstrap(): void {
    const { httpAdapter } = this.adapterHost;
    if (!(httpAdapter instanceof HttpAdapter)) return;
    httpAdapter.observer = (request, response) => {
      const began = performance.now();
      response.once('close', () => {
        this.#seriesOf(request, response).observe(secondsSince(began));
      });
    };
    httpAdapter.refusalObserver = (status) => {
      this.#unparsable.inc({ http_response_status_code: status });
    };
  }

  #seriesOf(request: IncomingMessage, response: ServerResponse) {
    const { method = '' } = request;
    const route = routeOf(request) ?? NO_ROUTE;
    const status = response.headersSent ? response.statusCode : CALLER_LEFT;
    const key = `${method} ${status} ${route}`;
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    const series = this.#durations.labels(METHODS.has(method) ? method : OTHER_METHOD, route, String(status));
    this.#series.set(key, series);
    return series;
  }
}
