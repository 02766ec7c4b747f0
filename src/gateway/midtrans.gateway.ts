import { measureCall } from '../common/observability/metrics.js';
import type { Env } from '../config/env.js';
import { MidtransClient } from './midtrans.client.js';
import {
  isOrderIdTaken,
  isRefunded,
  parsePaymentPage,
  parseRejection,
  parseStatusCode,
  parseText,
  parseTransaction,
  toSnapRequest,
} from './midtrans.messages.js';
import {
  AttemptIdTakenError,
  CALL_DEADLINE_MS,
  GatewayRejectedError,
  type GatewayTransaction,
  GatewayUnavailableError,
  PaymentGateway,
  type PaymentPage,
  type PaymentPageRequest,
  type RefundRequest,
} from './payment-gateway.js';

/** Status codes with which the Core API rejects an operation, by operation. */
const REJECTIONS: Readonly<Record<string, RegExp>> = {
  cancel: /^412$/,
  expire: /^412$/,
  // 202 (denied) or any 4xx: Midtrans adds codes from time to time. 408 and 429 are temporary failures, not rejections.
  refund: /^(202|4(?!08|29)\d\d)$/,
};
const KEY_NOT_ACCEPTED =
  'the server key was not accepted: MIDTRANS_SERVER_KEY is wrong, or the MIDTRANS_ addresses belong to another environment';

type MidtransSettings = Pick<Env, 'midtransServerKey' | 'midtransSnapUrl' | 'midtransApiUrl'>;

/**
 * Payments at Midtrans. Snap shows the payment page, and the Core API reports and changes payments.
 * @see https://docs.midtrans.com/reference/backend-integration
 * @see https://docs.midtrans.com/reference/code-4xx for the Core API's status codes
 */
export class MidtransGateway extends PaymentGateway {
  /** Private for JavaScript too: a printed gateway must not reveal the server key. */
  readonly #env: MidtransSettings;
  readonly #client: MidtransClient;

  constructor(env: MidtransSettings, deadlineMs = CALL_DEADLINE_MS) {
    super();
    this.#env = env;
    this.#client = new MidtransClient(env.midtransServerKey, deadlineMs);
  }

  openPaymentPage(request: PaymentPageRequest): Promise<PaymentPage> {
    return measure('create', async () => {
      const response = await this.#client.send('create', {
        method: 'POST',
        url: `${this.#env.midtransSnapUrl}/transactions`,
        body: toSnapRequest(request, new Date()),
      });
      const { httpStatus } = response;
      if (httpStatus === 401) throw new GatewayRejectedError(`Midtrans create: ${KEY_NOT_ACCEPTED}`);
      const reasons = parseRejection(response);
      if (reasons !== null) {
        const ErrorClass = isOrderIdTaken(httpStatus, reasons) ? AttemptIdTakenError : GatewayRejectedError;
        const reason = this.#client.quote(reasons);
        throw new ErrorClass(`Midtrans create: ${httpStatus} ${reason}`, reason);
      }
      const page = httpStatus < 300 ? parsePaymentPage(response) : null;
      if (page === null)
        throw new GatewayUnavailableError(`Midtrans create: unusable response ${httpStatus}`);
      return page;
    });
  }

  getTransaction(id: string): Promise<GatewayTransaction | null> {
    return this.#callCoreApi('status', id);
  }

  async cancelOrExpire(id: string, operation: 'cancel' | 'expire'): Promise<GatewayTransaction | null> {
    try {
      return await this.#callCoreApi(operation, id);
    } catch (error) {
      if (error instanceof GatewayRejectedError) return this.getTransaction(id);
      throw error;
    }
  }

  async refund(
    transactionId: string,
    { refundKey, amount, reason }: RefundRequest,
  ): Promise<GatewayTransaction> {
    const body = { refund_key: refundKey, amount, reason: reason ?? undefined };
    let transaction: GatewayTransaction | null;
    try {
      transaction = await this.#callCoreApi('refund', transactionId, body);
    } catch (error) {
      if (!(error instanceof GatewayRejectedError)) throw error;
      // An earlier call may have made the refund although its response was lost.
      const current = await this.getTransaction(transactionId);
      if (current === null || !isRefunded(current, refundKey)) throw error;
      return current;
    }
    if (transaction === null)
      throw new GatewayRejectedError('Midtrans refund: the transaction does not exist (404)');
    const { transactionStatus } = transaction;
    const hasRefund = transactionStatus === 'refund' || transactionStatus === 'partial_refund';
    if (hasRefund && transaction.transactionId === transactionId) return transaction;
    throw new GatewayUnavailableError(`Midtrans refund: the transaction is ${transactionStatus}`);
  }

  /** Calls the Core API for a payment attempt or a transaction. Returns null if there is no such transaction. */
  async #callCoreApi(operation: string, id: string, body?: object): Promise<GatewayTransaction | null> {
    // The URL parser would remove these segments of the path. No transaction has such an id.
    if (id === '.' || id === '..') return null;
    return measure(operation, async () => {
      const response = await this.#client.send(operation, {
        method: operation === 'status' ? 'GET' : 'POST',
        url: `${this.#env.midtransApiUrl}/v2/${encodeURIComponent(id)}/${operation}`,
        body,
      });
      const code = parseStatusCode(response);
      // No GatewayRejectedError, unlike in `openPaymentPage`: a rejected refund is never tried again, but this one may succeed with
      // the right key.
      if (code === '401') throw new GatewayUnavailableError(`Midtrans ${operation}: ${KEY_NOT_ACCEPTED}`);
      if (code === '404') return null;
      if (REJECTIONS[operation]?.test(code) === true) {
        const message = parseText(response.fields?.status_message, 10_000) ?? 'the gateway gave no reason';
        const reason = this.#client.quote(message);
        throw new GatewayRejectedError(`Midtrans ${operation}: ${code} ${reason}`, reason);
      }
      // 407 reports an expired payment.
      const transaction = /^(2\d\d|407)$/.test(code) ? parseTransaction(response, id) : null;
      if (transaction !== null && (transaction.transactionId === id || transaction.attemptId === id))
        return transaction;
      const statuses = `${response.httpStatus}, status code ${code}`;
      throw new GatewayUnavailableError(`Midtrans ${operation}: unusable response ${statuses}`);
    });
  }
}

function measure<T>(operation: string, call: () => Promise<T>): Promise<T> {
  return measureCall('gateway', operation, call, (error) => error instanceof GatewayRejectedError);
}
