import type { Response, Test } from 'supertest';

/** How long any request may take: the longest that is promised is an order's, 6 s, and the machine may be busy. */
export const REQUEST_BOUND_MS = 8_000;

/** What a caller knows of a request: an answer, or nothing, because the connection broke or a 503 left it open. */
export type Outcome = { readonly isKnown: true; readonly answer: Response } | { readonly isKnown: false };

/** Enough for an error with its stack. */
const LOG_LINE_LENGTH = 2_000;

const UNKNOWN: Outcome = { isKnown: false };

/** Sends requests and keeps whatever must not happen, in words, for one assertion at the end. */
export class Observer {
  readonly violations: string[] = [];
  sent = 0;
  /** 503 envelopes. */
  refused = 0;
  /** Connections that were refused or broke before the answer was whole. */
  cut = 0;
  slowestMs = 0;

  /** @param expected statuses that are right at this place; 503 is unknown, and any other one a violation */
  async send(request: Test, expected: readonly number[]): Promise<Outcome> {
    this.sent += 1;
    const began = performance.now();
    const what = `${request.method} ${new URL(request.url).pathname}`;
    try {
      const answer = await request.timeout({ deadline: REQUEST_BOUND_MS }).ok(() => true);
      if (expected.includes(answer.status)) return { isKnown: true, answer };
      if (answer.status === 503 && isEnvelope(answer)) this.refused += 1;
      else
        this.violations.push(
          `${what} (${answer.headers['x-request-id'] ?? 'no id'}) was answered ${answer.status} ${JSON.stringify(answer.body)}`,
        );
      return UNKNOWN;
    } catch (error) {
      if (typeof error === 'object' && error !== null && 'timeout' in error) {
        this.violations.push(`${what} was not answered within ${REQUEST_BOUND_MS} ms`);
      }
      this.cut += 1;
      return UNKNOWN;
    } finally {
      this.slowestMs = Math.max(this.slowestMs, performance.now() - began);
    }
  }

  violation(text: string): void {
    this.violations.push(text);
  }
}

/** Each violation with what the service wrote of the requests that it names. @param output of its processes */
export function explained(violations: readonly string[], output: string): string[] {
  const lines = output.split('\n');
  return violations.map((violation) => {
    const ids = violation.match(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g) ?? [];
    const told = lines.filter((line) => ids.some((id) => line.includes(`"requestId":"${id}"`)));
    return [violation, ...told.map((line) => `  ${line.slice(0, LOG_LINE_LENGTH)}`)].join('\n');
  });
}

function isEnvelope({ body }: Response): boolean {
  const { status, errors } = body as { status?: unknown; errors?: { code?: unknown } };
  return status === 'fail' && errors?.code === 503;
}
