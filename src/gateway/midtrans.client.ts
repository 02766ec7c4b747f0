import http from 'node:http';
import https from 'node:https';
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
 * However many customers wait while the gateway hangs; a call that finds no free connection in time fails like any
 * other. A new connection costs three journeys to the gateway before the call begins, so that some are kept. Not for
 * long: one that the gateway closes just when it is used again would make that call fail.
 */
const CONNECTIONS = { keepAlive: true, maxSockets: 64, maxFreeSockets: 16, timeout: 5_000 };

/**
 * HTTP as Midtrans wants it: JSON, and Basic authentication with the server key and no password. No error carries
 * a cause: what a neighbour's errors hold is not ours to vouch for.
 *
 * @see https://docs.midtrans.com/docs/api-authorization-headers
 */
export class MidtransClient {
  readonly #serverKey: string;
  readonly #credentials: string;
  readonly #httpAgent = new http.Agent(CONNECTIONS);
  readonly #httpsAgent = new https.Agent(CONNECTIONS);

  constructor(serverKey: string) {
    this.#serverKey = serverKey;
    this.#credentials = Buffer.from(`${serverKey}:`).toString('base64');
  }

  /**
   * Calls once, following no redirect; the deadline covers the answer's last byte.
   * @throws GatewayUnavailableError when no complete answer of at most 64 KiB came in time
   */
  async call(call: MidtransCall): Promise<MidtransAnswer> {
    const { operation, deadlineMs } = call;
    if (deadlineMs <= 0)
      throw new GatewayUnavailableError(`Midtrans ${operation}: no time left for the call`);
    const abort = new AbortController();
    const timer = setTimeout(() => {
      abort.abort();
    }, deadlineMs);
    try {
      return await this.exchange(call, abort.signal).catch((error: unknown) => {
        const reason = abort.signal.aborted
          ? `no complete answer within ${deadlineMs} ms`
          : failureOf(error as object);
        throw new GatewayUnavailableError(`Midtrans ${operation}: ${reason}`);
      });
    } finally {
      clearTimeout(timer);
    }
  }

  /** A text of the gateway's, fit for a message: short, and without the server key should it be repeated there. */
  quote(text: string): string {
    return text.replaceAll(this.#serverKey, '***').replaceAll(this.#credentials, '***').slice(0, 300);
  }

  /** Not `fetch`, which takes an answer 407, the Core API's word for an expired payment, for a proxy's demand. */
  private exchange({ url, method, body }: MidtransCall, signal: AbortSignal): Promise<MidtransAnswer> {
    const { request } = url.startsWith('https:') ? https : http;
    const payload = body === undefined ? '' : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const options = {
        method,
        signal,
        agent: url.startsWith('https:') ? this.#httpsAgent : this.#httpAgent,
        headers: {
          Accept: 'application/json',
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(payload),
          Authorization: `Basic ${this.#credentials}`,
        },
      };
      const outgoing = request(url, options, (response) => {
        readText(response).then((text) => {
          resolve({ httpStatus: response.statusCode ?? 0, text, fields: parseObject(text) });
        }, reject);
      });
      outgoing.on('error', reject);
      outgoing.end(payload);
    });
  }
}

class OversizeError extends Error {}

async function readText(response: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response) {
    length += chunk.length;
    if (length > MAX_ANSWER_BYTES) throw new OversizeError();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null; // No JSON: an answer that nobody understands, which is what null says.
  }
}

/** Why an exchange failed: the code of the system's error, for example `ECONNREFUSED`. */
function failureOf(error: object): string {
  if (error instanceof OversizeError) return `the answer exceeds ${MAX_ANSWER_BYTES} bytes`;
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && /^\w{1,64}$/.test(code)
    ? `connection failed (${code})`
    : 'connection failed';
}
