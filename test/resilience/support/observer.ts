import type { Response, Test } from 'supertest';

/** Time limit of every request. The longest promised time is 6 s for an order, and the machine may be busy. */
const REQUEST_BOUND_MS = 8_000;

/** Sends requests, records every violation as text for one assertion at the end, and measures. */
export class Observer {
  readonly violations: string[] = [];
  /** Number of responses with 503. */
  refused = 0;
  /** Number of requests whose connection broke. */
  broken = 0;
  /** Number of writes with an expected response. */
  acknowledged = 0;
  /** Duration of the slowest response since `measure`. */
  slowestMs = 0;
  /** Start and end of the longest time without an acknowledged write since `measure`, of `performance.now()`. */
  gap: readonly [start: number, end: number] = [0, 0];
  #acknowledgedAt = performance.now();

  constructor(private readonly boundMs = REQUEST_BOUND_MS) {}

  /** Starts a new measurement. */
  measure(): void {
    this.slowestMs = 0;
    this.gap = [0, 0];
    this.#acknowledgedAt = performance.now();
  }

  /**
   * @param expected statuses of a correct response. After 503 the outcome is open. Any other status is a violation.
   * @returns undefined if the outcome is open: the connection broke, or the response was 503
   */
  async send(request: Test, ...expected: readonly number[]): Promise<Response | undefined> {
    const what = `${request.method} ${new URL(request.url).pathname}`;
    const sentAt = performance.now();
    try {
      const answer = await request.timeout({ deadline: this.boundMs }).ok(() => true);
      this.slowestMs = Math.max(this.slowestMs, performance.now() - sentAt);
      if (expected.includes(answer.status)) {
        if (isWrite(request)) this.#acknowledge();
        return answer;
      }
      if (answer.status === 503 && isEnvelope(answer)) this.refused += 1;
      else {
        const id = answer.headers['x-request-id'] ?? 'no id';
        this.violations.push(`${what} (${id}) was answered ${answer.status} ${answer.text}`);
      }
    } catch (error) {
      this.broken += 1;
      if (typeof error === 'object' && error !== null && 'timeout' in error)
        this.violations.push(`${what} was not answered within ${this.boundMs} ms`);
    }
    return undefined;
  }

  #acknowledge(): void {
    const now = performance.now();
    const [start, end] = this.gap;
    if (now - this.#acknowledgedAt > end - start) this.gap = [this.#acknowledgedAt, now];
    this.#acknowledgedAt = now;
    this.acknowledged += 1;
  }

  /** Returns the violations, each with the service's log lines of its request. */
  explained(output: string): string[] {
    const lines = output.split('\n');
    return this.violations.map((violation) => {
      const ids = violation.match(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g) ?? [];
      const logged = lines.filter((line) => ids.some((id) => line.includes(`"requestId":"${id}"`)));
      return [violation, ...logged].join('\n');
    });
  }
}

function isEnvelope({ body }: Response): boolean {
  return (body as { errors?: { code?: number } }).errors?.code === 503;
}

/** An order counts as no write, because a repetition with the same key only reads. */
function isWrite({ method, url }: Test): boolean {
  return method !== 'GET' && !url.endsWith('/api/orders');
}
