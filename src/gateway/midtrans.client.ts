import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { Agent, request } from 'undici';
import { runInSpan } from '../common/observability/tracing.js';
import { type MidtransResponse, parseJsonObject } from './midtrans.messages.js';
import { GatewayUnavailableError } from './payment-gateway.js';

const MAX_RESPONSE_BYTES = 64 * 1024;
/** A new connection costs three round trips. A long keep-alive risks reusing a connection while the gateway closes it. */
const AGENT_OPTIONS = { connections: 64, keepAliveTimeout: 5_000, maxResponseSize: MAX_RESPONSE_BYTES };

interface MidtransRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly body?: object | undefined;
}

/** HTTP client of Snap and the Core API. Both use Basic authentication with the server key and an empty password. */
export class MidtransClient {
  readonly #serverKey: string;
  readonly #credentials: string;
  readonly #agent = new Agent(AGENT_OPTIONS);

  /** @param deadlineMs deadline of each request, including the last byte of the response */
  constructor(
    serverKey: string,
    private readonly deadlineMs: number,
  ) {
    this.#serverKey = serverKey;
    this.#credentials = Buffer.from(`${serverKey}:`).toString('base64');
  }

  /**
   * Sends one request, without following redirects.
   * @throws GatewayUnavailableError without a cause, because a cause could contain the server key
   */
  async send(operation: string, { method, url, body }: MidtransRequest): Promise<MidtransResponse> {
    try {
      const attributes = { 'http.request.method': method, 'url.full': url };
      // undici is not instrumented.
      return await runInSpan(method, { kind: SpanKind.CLIENT, attributes }, async (span) => {
        // Not `fetch`, which treats status 407 (an expired payment) as the response of a proxy.
        const response = await request(url, {
          method,
          dispatcher: this.#agent,
          signal: AbortSignal.timeout(this.deadlineMs),
          headers: {
            accept: 'application/json',
            'content-type': 'application/json',
            authorization: `Basic ${this.#credentials}`,
          },
          body: body === undefined ? null : JSON.stringify(body),
        });
        const { statusCode: httpStatus } = response;
        span.setAttribute('http.response.status_code', httpStatus);
        // Midtrans answers with 404 and 407 in normal operation, so a 4xx does not mark the span as failed.
        if (httpStatus >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
        const text = await response.body.text();
        return { httpStatus, text, fields: parseJsonObject(text) };
      });
    } catch (error) {
      throw new GatewayUnavailableError(`Midtrans ${operation}: ${describeFailure(error, this.deadlineMs)}`);
    }
  }

  /** Returns a text of the gateway for an error message: shortened, and without the server key. */
  quote(text: string): string {
    return text.replaceAll(this.#serverKey, '***').replaceAll(this.#credentials, '***').slice(0, 300);
  }
}

function describeFailure(error: unknown, deadlineMs: number): string {
  const { name, code } = error as { readonly name?: unknown; readonly code?: unknown };
  if (name === 'TimeoutError') return `no complete response within ${deadlineMs} ms`;
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return `the response exceeds ${MAX_RESPONSE_BYTES} bytes`;
  return typeof code === 'string' ? `connection failed (${code})` : 'connection failed';
}
