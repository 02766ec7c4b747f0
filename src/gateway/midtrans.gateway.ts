import { timedCall } from '../common/metrics.js';
import { MidtransClient } from './midtrans.client.js';
import {
  paymentPageOf,
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

export interface MidtransGatewayOptions {
  readonly serverKey: string;
  /** Base address of Snap without a slash at its end, for example `https://app.sandbox.midtrans.com/snap/v1`. */
  readonly snapUrl: string;
  /** Base address of the Core API without a slash at its end, for example `https://api.sandbox.midtrans.com`. */
  readonly apiUrl: string;
  /** Longest time of one call in milliseconds. */
  readonly deadlineMs?: number;
}

type ApiOperation = 'status' | 'cancel' | 'expire';

const KEY_NOT_ACCEPTED =
  'the server key was not accepted (MIDTRANS_SERVER_KEY, or the address of another environment)';

/**
 * Payments at Midtrans: Snap shows the payment page, the Core API tells and changes what became of a payment.
 *
 * @see https://docs.midtrans.com/reference/backend-integration
 * @see https://docs.midtrans.com/reference/code-4xx for the Core API's status codes
 */
export class MidtransGateway extends PaymentGateway {
  private readonly client: MidtransClient;
  private readonly snapUrl: string;
  private readonly apiUrl: string;
  private readonly deadlineMs: number;

  constructor({ serverKey, snapUrl, apiUrl, deadlineMs = CALL_DEADLINE_MS }: MidtransGatewayOptions) {
    super();
    this.client = new MidtransClient(serverKey);
    this.snapUrl = snapUrl;
    this.apiUrl = apiUrl;
    this.deadlineMs = deadlineMs;
  }

  createTransaction(request: TransactionRequest, deadlineMs: number = this.deadlineMs): Promise<PaymentPage> {
    return measured('create', () => this.create(request, deadlineMs));
  }

  status(orderId: string): Promise<GatewayTransaction | null> {
    return measured('status', () => this.transaction('status', orderId));
  }

  cancel(orderId: string): Promise<GatewayTransaction | null> {
    return measured('cancel', () => this.transaction('cancel', orderId));
  }

  expire(orderId: string): Promise<GatewayTransaction | null> {
    return measured('expire', () => this.transaction('expire', orderId));
  }

  private async create(request: TransactionRequest, deadlineMs: number): Promise<PaymentPage> {
    const answer = await this.client.call({
      operation: 'create',
      method: 'POST',
      url: `${this.snapUrl}/transactions`,
      body: snapRequest(request, new Date()),
      deadlineMs: Math.min(deadlineMs, this.deadlineMs),
    });
    const { httpStatus } = answer;
    if (httpStatus === 401) throw new GatewayRefusedError(`Midtrans create: ${KEY_NOT_ACCEPTED}`);
    const refusal = httpStatus === 408 || httpStatus === 429 ? null : refusalOf(answer);
    if (refusal !== null) {
      throw new GatewayRefusedError(`Midtrans create: ${httpStatus} ${this.client.quote(refusal)}`, {
        isOrderIdTaken: saysOrderIdTaken(httpStatus, refusal, request.orderId),
      });
    }
    const page = httpStatus === 201 ? paymentPageOf(answer) : null;
    if (page === null) throw new GatewayUnavailableError(`Midtrans create: unusable answer ${httpStatus}`);
    return page;
  }

  private async transaction(operation: ApiOperation, orderId: string): Promise<GatewayTransaction | null> {
    const answer = await this.client.call({
      operation,
      method: operation === 'status' ? 'GET' : 'POST',
      url: `${this.apiUrl}/v2/${encodeURIComponent(orderId)}/${operation}`,
      deadlineMs: this.deadlineMs,
    });
    const code = codeOf(answer.httpStatus, answer.fields?.status_code);
    if (code === '401') throw new GatewayUnavailableError(`Midtrans ${operation}: ${KEY_NOT_ACCEPTED}`);
    if (code === '404') return null;
    if (code === '412' && operation !== 'status') {
      throw new GatewayRefusedError(`Midtrans ${operation}: the payment can no longer be changed (412)`);
    }
    // 407 is how it says that a payment is expired.
    const transaction = /^(2\d\d|407)$/.test(code) ? transactionOf(answer) : null;
    if (transaction === null) {
      throw new GatewayUnavailableError(
        `Midtrans ${operation}: unusable answer ${answer.httpStatus}, status code ${code}`,
      );
    }
    return transaction;
  }
}

function measured<T>(operation: string, call: () => Promise<T>): Promise<T> {
  return timedCall('gateway', operation, call, (error) => error instanceof GatewayRefusedError);
}

/**
 * The status code that counts: the body's. Without one only 401 means anything, since a 404 would be a wrong
 * address or a proxy, and must not pass for "no such payment".
 */
function codeOf(httpStatus: number, bodyCode: unknown): string {
  const isOwnAnswer = (httpStatus >= 200 && httpStatus < 300) || (httpStatus >= 400 && httpStatus < 500);
  if (isOwnAnswer && typeof bodyCode === 'string' && /^\d{3}$/.test(bodyCode)) return bodyCode;
  return httpStatus === 401 ? '401' : 'none';
}
