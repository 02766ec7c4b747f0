import type { Response, Test } from 'supertest';

/** How long any request may take: the longest that is promised is an order's, 6 s, and the machine may be busy. */
const REQUEST_BOUND_MS = 8_000;

/** Sends requests and keeps in words what must not happen, for one assertion at the end. */
export class Observer {
  readonly violations: string[] = [];
  /** Answers 503. */
  refused = 0;

  /**
   * @param expected statuses that are right at this place; 503 leaves open what happened, and any other is a violation
   * @returns undefined when it is open what happened: the connection broke, or the answer was a 503
   */
  async send(request: Test, ...expected: readonly number[]): Promise<Response | undefined> {
    const what = `${request.method} ${new URL(request.url).pathname}`;
    try {
      const answer = await request.timeout({ deadline: REQUEST_BOUND_MS }).ok(() => true);
      if (expected.includes(answer.status)) return answer;
      if (answer.status === 503) this.refused += 1;
      else {
        const id = answer.headers['x-request-id'] ?? 'no id';
        this.violations.push(`${what} (${id}) was answered ${answer.status} ${answer.text}`);
      }
    } catch (error) {
      if (typeof error === 'object' && error !== null && 'timeout' in error)
        this.violations.push(`${what} was not answered within ${REQUEST_BOUND_MS} ms`);
    }
    return undefined;
  }

  /** Each violation with what the service wrote of the requests that it names. */
  explained(output: string): string[] {
    const lines = output.split('\n');
    return this.violations.map((violation) => {
      const ids = violation.match(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g) ?? [];
      const told = lines.filter((line) => ids.some((id) => line.includes(`"requestId":"${id}"`)));
      return [violation, ...told].join('\n');
    });
  }
}
