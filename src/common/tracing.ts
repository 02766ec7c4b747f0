/** The span in which something happens (W3C Trace Context), for log lines. */
export interface SpanIds {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
}

/** What the service asks of tracing, so that nothing of OpenTelemetry is loaded while it is off. */
export interface Tracing {
  /** The current span; undefined outside of any. */
  current(): SpanIds | undefined;
  /** The current span as a `traceparent` header would have it; undefined outside of any. */
  traceparent(): string | undefined;
  /**
   * Works in a span of a new trace.
   * @param cause `traceparent` of the span that led to it, which is linked
   */
  job<T>(task: string, cause: string | undefined, work: () => Promise<T>): Promise<T>;
  /** Calls an external service in a span, for an HTTP client that OpenTelemetry does not instrument (undici). */
  call<T extends { readonly httpStatus: number }>(
    method: string,
    url: string,
    work: () => Promise<T>,
  ): Promise<T>;
}

/** Tracing that was started. */
export interface RunningTracing {
  /** @param listener told, once a minute at most, that spans could not be sent and are lost */
  onExportFailure(listener: () => void): void;
  /** Sends what is left; within a second, whatever becomes of it. */
  stop(): Promise<void>;
}

const OFF: Tracing = {
  current: () => undefined,
  traceparent: () => undefined,
  job: (_task, _cause, work) => work(),
  call: (_method, _url, work) => work(),
};

let active = OFF;

/** One for the process, as the libraries are that it instruments. */
export function tracing(): Tracing {
  return active;
}

/** Called once, before the service is loaded. */
export function useTracing(started: Tracing): void {
  active = started;
}
