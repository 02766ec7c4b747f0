import { Agent, request } from 'undici';
import { timedCall } from '../common/metrics.js';
import { inCallSpan } from '../common/tracing.js';
import type { Env } from '../config/env.js';
import {
  isOrderIdTaken,
  listsRefund,
  type MidtransResponse,
  parseObject,
  parsePaymentPage,
  parseRejection,
  parseTransaction,
  toRefundBody,
  toSnapRequest,
} from './midtrans.messages.js';
import {
  CALL_DEADLINE_MS,
  GatewayRejectedError,
  type GatewayTransaction,
  GatewayUnavailableError,
  PaymentGateway,
  type PaymentPage,
  type RefundRequest,
  type TransactionRequest,
} from './payment-gateway.js';

type MidtransSetting = Omit<Env['payment'], 'gateway'>;
type Method = 'GET' | 'POST';

/** A real response has about 1 KiB. */
const MAX_RESPONSE_BYTES = 64 * 1024;
/** A new connection costs three round trips. A long keep-alive risks reusing a connection while the gateway closes it. */
const CONNECTIONS = { connections: 64, keepAliveTimeout: 5_000, maxResponseSize: MAX_RESPONSE_BYTES };
/** Status codes with which the Core API rejects an operation. Midtrans adds codes for refunds from time to time. */
const REJECTIONS: Readonly<Record<string, RegExp>> = {
  cancel: /^412$/,
  expire: /^412$/,
  // The payment provider denies a refund with 202. 408 and 429 are temporary.
  refund: /^(202|4(?!08|29)\d\d)$/,
};
const REFUNDED = ['refund', 'partial_refund'];
const KEY_NOT_ACCEPTED =
  'the server key was not accepted (MIDTRANS_SERVER_KEY, or the address of another environment)';

/**
 * Payments at Midtrans. Snap shows the payment page, and the Core API reports and changes payments. Both use Basic
 * authentication with the server key and an empty password. Errors have no cause, because a cause could contain the key.
 *
 * @see https://docs.midtrans.com/reference/backend-integration
 * @see https://docs.midtrans.com/reference/code-4xx for the Core API's status codes
 */
export class MidtransGateway extends PaymentGateway {
  readonly #setting: MidtransSetting;
  readonly #credentials: string;
  readonly #agent = new Agent(CONNECTIONS);

  constructor(
    setting: MidtransSetting,
    private readonly deadlineMs = CALL_DEADLINE_MS,
  ) {
    super();
    this.#setting = setting;
    this.#credentials = Buffer.from(`${setting.serverKey}:`).toString('base64');
  }

  createTransaction(request: TransactionRequest, deadlineMs = this.deadlineMs): Promise<PaymentPage> {
    return measure('create', async () => {
      if (deadlineMs <= 0) throw new GatewayUnavailableError('Midtrans create: no time left for the call');
      const url = `${this.#setting.snapUrl}/transactions`;
      const deadline = Math.min(deadlineMs, this.deadlineMs);
      const body = toSnapRequest(request, new Date());
      const response = await this.#call('create', 'POST', url, deadline, body);
      const { httpStatus } = response;
      if (httpStatus === 401) throw new GatewayRejectedError(`Midtrans create: ${KEY_NOT_ACCEPTED}`);
      const reasons = httpStatus === 408 || httpStatus === 429 ? null : parseRejection(response);
      if (reasons !== null) {
        const isTaken = isOrderIdTaken(httpStatus, reasons, request.orderId);
        throw new GatewayRejectedError(`Midtrans create: ${httpStatus} ${this.#quote(reasons)}`, isTaken);
      }
      const page = httpStatus === 201 ? parsePaymentPage(response) : null;
      if (page === null)
        throw new GatewayUnavailableError(`Midtrans create: unusable response ${httpStatus}`);
      return page;
    });
  }

  status(orderId: string): Promise<GatewayTransaction | null> {
    return this.#requestTransaction('status', 'GET', orderId);
  }

  async end(orderId: string, status: 'cancel' | 'expire'): Promise<GatewayTransaction | null> {
    try {
      return await this.#requestTransaction(status, 'POST', orderId);
    } catch (error) {
      if (error instanceof GatewayRejectedError) return this.status(orderId);
      throw error;
    }
  }

  async refund(orderId: string, request: RefundRequest): Promise<GatewayTransaction> {
    try {
      const transaction = await this.#requestTransaction('refund', 'POST', orderId, toRefundBody(request));
      if (transaction === null)
        throw new GatewayRejectedError('Midtrans refund: the payment does not exist (404)');
      if (REFUNDED.includes(transaction.transactionStatus)) return transaction;
      throw new GatewayUnavailableError(`Midtrans refund: the payment is ${transaction.transactionStatus}`);
    } catch (error) {
      if (!(error instanceof GatewayRejectedError)) throw error;
      // An earlier call may have made the refund although its response was lost.
      const transaction = await this.status(orderId);
      const isMade =
        transaction?.transactionStatus === 'refund' || listsRefund(transaction, request.refundKey);
      if (transaction === null || !isMade) throw error;
      return transaction;
    }
  }

  #requestTransaction(operation: string, method: Method, orderId: string, body?: object) {
    return measure(operation, async () => {
      const url = `${this.#setting.apiUrl}/v2/${encodeURIComponent(orderId)}/${operation}`;
      const response = await this.#call(operation, method, url, this.deadlineMs, body);
      const code = statusCodeOf(response);
      if (code === '401') throw new GatewayUnavailableError(`Midtrans ${operation}: ${KEY_NOT_ACCEPTED}`);
      if (code === '404') return null;
      if (REJECTIONS[operation]?.test(code) === true)
        throw new GatewayRejectedError(`Midtrans ${operation}: the payment cannot be changed (${code})`);
      // 407 reports an expired payment.
      const transaction = /^(2\d\d|407)$/.test(code) ? parseTransaction(response) : null;
      if (transaction !== null) return transaction;
      const shown = `${response.httpStatus}, status code ${code}`;
      throw new GatewayUnavailableError(`Midtrans ${operation}: unusable response ${shown}`);
    });
  }

  /** Sends one request, without following redirects. The deadline includes the last byte of the response. */
  async #call(operation: string, method: Method, url: string, deadlineMs: number, body?: object) {
    try {
      return await inCallSpan(method, url, async (): Promise<MidtransResponse> => {
        // Not `fetch`, which treats status 407 (an expired payment) as the response of a proxy.
        const response = await request(url, {
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
        const text = await response.body.text();
        return { httpStatus: response.statusCode, text, fields: parseObject(text) };
      });
    } catch (error) {
      throw new GatewayUnavailableError(`Midtrans ${operation}: ${describeFailure(error, deadlineMs)}`);
    }
  }

  /** Returns a text of the gateway for an error message: shortened, and without the server key. */
  #quote(text: string): string {
    return text.replaceAll(this.#setting.serverKey, '***').replaceAll(this.#credentials, '***').slice(0, 300);
  }
}

function measure<T>(operation: string, call: () => Promise<T>): Promise<T> {
  return timedCall('gateway', operation, call, (error) => error instanceof GatewayRejectedError);
}

function describeFailure(error: unknown, deadlineMs: number): string {
  const { name, code } = error as { readonly name?: unknown; readonly code?: unknown };
  if (name === 'TimeoutError') return `no complete response within ${deadlineMs} ms`;
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return `the response exceeds ${MAX_RESPONSE_BYTES} bytes`;
  return typeof code === 'string' ? `connection failed (${code})` : 'connection failed';
}

/**
 * Returns the `status_code` of the body. The HTTP status is not a substitute, except 401: a 404 without a body may come
 * from a wrong address or a proxy, and must not be read as "no such payment".
 */
function statusCodeOf({ httpStatus, fields }: MidtransResponse): string {
  const code = fields?.status_code;
  const isFromMidtrans = httpStatus < 300 || (httpStatus >= 400 && httpStatus < 500);
  if (isFromMidtrans && typeof code === 'string' && /^\d{3}$/.test(code)) return code;
  return httpStatus === 401 ? '401' : 'none';
}
