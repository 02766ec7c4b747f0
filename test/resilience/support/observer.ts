import type { Response, Test } from 'supertest';
import { RunningClock } from '../../support/measure.js';

/** Default time limit of a request. An order may wait 5 s for the gateway, and the machine may be busy. */
const REQUEST_TIMEOUT_MS = 8_000;

/** Sends and measures requests. Records every violation as text, so that one assertion at the end reports all of them. */
export class Observer {
  readonly violations: string[] = [];
  /** Number of 503 responses that the service itself sent. */
  responsesWith503 = 0;
  /** Number of requests without a complete response, including those that timed out. */
  brokenConnections = 0;
  /** Number of writes with an expected response, not counting orders. */
  acknowledgedWrites = 0;
  /** Duration of the slowest response since `startMeasuring`. */
  slowestMs = 0;
  /** Longest time between two consecutive acknowledged writes, or from `startMeasuring` to the first one. */
  longestGapMs = 0;
  readonly #clock = new RunningClock();
  #acknowledgedAt = 0;

  constructor(private readonly timeoutMs = REQUEST_TIMEOUT_MS) {}

  startMeasuring(): void {
    this.slowestMs = 0;
    this.longestGapMs = 0;
    this.#acknowledgedAt = this.#clock.now();
  }

  /**
   * @param expected statuses of a correct response. Any other status is a violation, except a 503 that the service itself sent
   * @returns undefined without a response of an expected status. A timeout is a violation, a broken connection is not
   */
  async send(request: Test, ...expected: readonly number[]): Promise<Response | undefined> {
    const requestLine = `${request.method} ${new URL(request.url).pathname}`;
    const sentAt = this.#clock.now();
    const response = await request
      .timeout({ deadline: this.timeoutMs })
      .ok(() => true)
      .catch((error: unknown) => {
        this.brokenConnections += 1;
        if (typeof error === 'object' && error !== null && 'timeout' in error)
          this.violations.push(`${requestLine} got no response within ${this.timeoutMs} ms`);
      });
    if (!response) return undefined;
    this.slowestMs = Math.max(this.slowestMs, this.#clock.now() - sentAt);
    if (expected.includes(response.status)) {
      if (isCountedWrite(request)) this.#acknowledge();
      return response;
    }
    if (response.status === 503 && isServiceFailure(response)) this.responsesWith503 += 1;
    else {
      const id = response.headers['x-request-id'] ?? 'no id';
      this.violations.push(`${requestLine} (${id}) got ${response.status} ${response.text}`);
    }
    return undefined;
  }

  #acknowledge(): void {
    const now = this.#clock.now();
    this.longestGapMs = Math.max(this.longestGapMs, now - this.#acknowledgedAt);
    this.#acknowledgedAt = now;
    this.acknowledgedWrites += 1;
  }

  /** Returns the violations, each with the log lines of its request. */
  describeViolations(log: string): string[] {
    const lines = log.split('\n');
    return this.violations.map((violation) => {
      const ids = violation.match(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g) ?? [];
      const logged = lines.filter((line) => ids.some((id) => line.includes(`"requestId":"${id}"`)));
      return [violation, ...logged].join('\n');
    });
  }
}

/** Returns true for a 503 in the fail envelope of the service. Any other 503, such as that of a proxy, is a violation. */
function isServiceFailure({ body }: Response): boolean {
  return (body as { errors?: { code?: number } }).errors?.code === 503;
}

/** Returns true for a write, except an order: a repeated order with the same key succeeds without a write. */
function isCountedWrite({ method, url }: Test): boolean {
  return method !== 'GET' && !url.endsWith('/api/orders');
}
