import { Agent, request } from 'undici';
import { inCallSpan } from '../common/tracing.js';
import { GatewayUnavailableError } from './payment-gateway.js';

/** One call of the gateway's HTTP interface. */
export interface MidtransCall {
  /** For messages. */
  readonly operation: string;
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** Sent as JSON. */
  readonly body?: object;
  readonly deadlineMs: number;
}

/** What the gateway answered, with any status. */
export interface MidtransAnswer {
  /** The Core API mostly answers 200 and tells the truth in the body's `status_code`. */
  readonly httpStatus: number;
  readonly text: string;
  /** The JSON object that `text` holds; null when it holds none. */
  readonly fields: Readonly<Record<string, unknown>> | null;
}

/** A real answer is about 1 KiB. */
const MAX_ANSWER_BYTES = 64 * 1024;
/**
 * Connections are kept for a few seconds, as a new one costs three round trips. Not for longer: one that the gateway
 * closes just when it is used again would make that call fail.
 */
const CONNECTIONS = { connections: 64, keepAliveTimeout: 5_000, maxResponseSize: MAX_ANSWER_BYTES };

/**
 * HTTP as Midtrans wants it: JSON, and Basic authentication with the server key and no password. Errors carry no
 * cause, which could repeat the key.
 *
 * @see https://docs.midtrans.com/docs/api-authorization-headers
 */
export class MidtransClient {
  readonly #serverKey: string;
  readonly #credentials: string;
  readonly #agent = new Agent(CONNECTIONS);

  constructor(serverKey: string) {
    this.#serverKey = serverKey;
    this.#credentials = Buffer.from(`${serverKey}:`).toString('base64');
  }

  /**
   * Calls once and follows no redirect; the deadline includes the last byte of the answer.
   * @throws GatewayUnavailableError when no complete answer of at most 64 KiB came in time
   */
  async call({ operation, method, url, body, deadlineMs }: MidtransCall): Promise<MidtransAnswer> {
    if (deadlineMs <= 0)
      throw new GatewayUnavailableError(`Midtrans ${operation}: no time left for the call`);
    try {
      return await inCallSpan(method, url, async () => {
        // Not `fetch`, which takes 407, the Core API's word for an expired payment, for the answer of a proxy.
        const answer = await request(url, {
          method,
          dispatcher: this.#agent,
          signal: AbortSignal.timeout(deadlineMs),
          headers: {
            accept: 'application/json',
            'content-type': 'application/json',
            authorization: `Basic ${this.#credentials}`,
          },
          body: body === undefined ? null : JSON.stringify(body),
        });
        const text = await answer.body.text();
        return { httpStatus: answer.statusCode, text, fields: parseObject(text) };
      });
    } catch (error) {
      throw new GatewayUnavailableError(`Midtrans ${operation}: ${reasonOf(error, deadlineMs)}`);
    }
  }

  /** A text of the gateway, fit for a message: short, and without the server key if it is repeated there. */
  quote(text: string): string {
    return text.replaceAll(this.#serverKey, '***').replaceAll(this.#credentials, '***').slice(0, 300);
  }
}

function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null; // No JSON: the caller refuses an answer without fields.
  }
}

function reasonOf(error: unknown, deadlineMs: number): string {
  const { name, code } = error as { readonly name?: unknown; readonly code?: unknown };
  if (name === 'TimeoutError') return `no complete answer within ${deadlineMs} ms`;
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return `the answer exceeds ${MAX_ANSWER_BYTES} bytes`;
  return typeof code === 'string' && /^\w{1,64}$/.test(code)
    ? `connection failed (${code})`
    : 'connection failed';
}
