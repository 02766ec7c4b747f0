import { Agent, request } from 'undici';
import { timedCall } from '../common/metrics.js';
import { inCallSpan } from '../common/tracing.js';
import type { PaymentSetting } from '../config/env.js';
import {
  type MidtransAnswer,
  paymentPageOf,
  parseObject,
  refusalOf,
  saysOrderIdTaken,
  snapRequest,
  transactionOf,
} from './midtrans.messages.js';
import {
  CALL_DEADLINE_MS,
  GatewayRefusedError,
  type GatewayTransaction,
  GatewayUnavailableError,
  PaymentGateway,
  type PaymentPage,
  type TransactionRequest,
} from './payment-gateway.js';

/** A real answer is about 1 KiB. */
const MAX_ANSWER_BYTES = 64 * 1024;
/**
 * Connections are kept for a few seconds, as a new one costs three round trips. Not for longer: one that the gateway
 * closes just when it is used again would make that call fail.
 */
const CONNECTIONS = { connections: 64, keepAliveTimeout: 5_000, maxResponseSize: MAX_ANSWER_BYTES };
const KEY_NOT_ACCEPTED =
  'the server key was not accepted (MIDTRANS_SERVER_KEY, or the address of another environment)';

/**
 * Payments at Midtrans: Snap shows the payment page, the Core API tells and changes what became of a payment. JSON, and
 * Basic authentication with the server key and no password. Errors carry no cause, which could repeat the key.
 *
 * @see https://docs.midtrans.com/reference/backend-integration
 * @see https://docs.midtrans.com/reference/code-4xx for the Core API's status codes
 */
export class MidtransGateway extends PaymentGateway {
  readonly #setting: Omit<PaymentSetting, 'gateway'>;
  readonly #credentials: string;
  readonly #agent = new Agent(CONNECTIONS);

  /** @param deadlineMs longest time of one call */
  constructor(
    setting: Omit<PaymentSetting, 'gateway'>,
    private readonly deadlineMs = CALL_DEADLINE_MS,
  ) {
    super();
    this.#setting = setting;
    this.#credentials = Buffer.from(`${setting.serverKey}:`).toString('base64');
  }

  createTransaction(request: TransactionRequest, deadlineMs = this.deadlineMs): Promise<PaymentPage> {
    return measured('create', async () => {
      if (deadlineMs <= 0) throw new GatewayUnavailableError('Midtrans create: no time left for the call');
      const url = `${this.#setting.snapUrl}/transactions`;
      const deadline = Math.min(deadlineMs, this.deadlineMs);
      const answer = await this.#call('create', 'POST', url, deadline, snapRequest(request, new Date()));
      const { httpStatus } = answer;
      if (httpStatus === 401) throw new GatewayRefusedError(`Midtrans create: ${KEY_NOT_ACCEPTED}`);
      const refusal = httpStatus === 408 || httpStatus === 429 ? null : refusalOf(answer);
      if (refusal !== null) {
        const isTaken = saysOrderIdTaken(httpStatus, refusal, request.orderId);
        throw new GatewayRefusedError(`Midtrans create: ${httpStatus} ${this.#quote(refusal)}`, isTaken);
      }
      const page = httpStatus === 201 ? paymentPageOf(answer) : null;
      if (page === null) throw new GatewayUnavailableError(`Midtrans create: unusable answer ${httpStatus}`);
      return page;
    });
  }

  status(orderId: string): Promise<GatewayTransaction | null> {
    return this.#transaction('status', 'GET', orderId);
  }

  async end(orderId: string, status: 'cancel' | 'expire'): Promise<GatewayTransaction | null> {
    try {
      return await this.#transaction(status, 'POST', orderId);
    } catch (error) {
      if (error instanceof GatewayRefusedError) return this.status(orderId);
      throw error;
    }
  }

  #transaction(operation: string, method: 'GET' | 'POST', orderId: string) {
    return measured(operation, async () => {
      const url = `${this.#setting.apiUrl}/v2/${encodeURIComponent(orderId)}/${operation}`;
      const answer = await this.#call(operation, method, url, this.deadlineMs);
      const code = codeOf(answer);
      if (code === '401') throw new GatewayUnavailableError(`Midtrans ${operation}: ${KEY_NOT_ACCEPTED}`);
      if (code === '404') return null;
      if (code === '412' && method === 'POST')
        throw new GatewayRefusedError(`Midtrans ${operation}: the payment can no longer be changed (412)`);
      // 407 is how it says that a payment is expired.
      const transaction = /^(2\d\d|407)$/.test(code) ? transactionOf(answer) : null;
      if (transaction !== null) return transaction;
      const shown = `${answer.httpStatus}, status code ${code}`;
      throw new GatewayUnavailableError(`Midtrans ${operation}: unusable answer ${shown}`);
    });
  }

  /**
   * Calls once and follows no redirect; the deadline includes the last byte of the answer.
   * @throws GatewayUnavailableError when no complete answer of at most 64 KiB came in time
   */
  async #call(operation: string, method: 'GET' | 'POST', url: string, deadlineMs: number, body?: object) {
    try {
      return await inCallSpan(method, url, async (): Promise<MidtransAnswer> => {
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
  #quote(text: string): string {
    return text.replaceAll(this.#setting.serverKey, '***').replaceAll(this.#credentials, '***').slice(0, 300);
  }
}

function measured<T>(operation: string, call: () => Promise<T>): Promise<T> {
  return timedCall('gateway', operation, call, (error) => error instanceof GatewayRefusedError);
}

function reasonOf(error: unknown, deadlineMs: number): string {
  const { name, code } = error as { readonly name?: unknown; readonly code?: unknown };
  if (name === 'TimeoutError') return `no complete answer within ${deadlineMs} ms`;
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return `the answer exceeds ${MAX_ANSWER_BYTES} bytes`;
  return typeof code === 'string' ? `connection failed (${code})` : 'connection failed';
}

/**
 * The status code that counts: the body's. Without one only 401 means anything, since a 404 would be a wrong
 * address or a proxy, and must not pass for "no such payment".
 */
function codeOf({ httpStatus, fields }: MidtransAnswer): string {
  const code = fields?.status_code;
  const isOwnAnswer = httpStatus < 300 || (httpStatus >= 400 && httpStatus < 500);
  if (isOwnAnswer && typeof code === 'string' && /^\d{3}$/.test(code)) return code;
  return httpStatus === 401 ? '401' : 'none';
}
