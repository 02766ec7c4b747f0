/** The gateway's transaction_status values (docs/contract.md, sections 3 and 6). */
export const TRANSACTION_STATUSES = [
  'capture',
  'settlement',
  'pending',
  'deny',
  'cancel',
  'expire',
  'failure',
  'refund',
  'partial_refund',
  'authorize',
] as const;
export type TransactionStatus = (typeof TRANSACTION_STATUSES)[number];

/** Request for a payment page. Amounts are whole rupiah. The items add up to `grossAmount`. */
export interface TransactionRequest {
  /** Id of the payment attempt, which the gateway calls `order_id`. The gateway accepts each id once. */
  readonly orderId: string;
  readonly grossAmount: number;
  readonly items: readonly {
    readonly id: string;
    readonly name: string;
    readonly price: number;
    readonly quantity: number;
  }[];
  readonly customer: { readonly fullname: string; readonly email: string };
}

/** Request to return money to a customer. */
export interface RefundRequest {
  /** Identifies the refund at the gateway: calls with the same key refund only once. */
  readonly refundKey: string;
  /** Whole rupiah. */
  readonly amount: number;
  readonly reason: string | null;
}

export interface PaymentPage {
  readonly token: string;
  readonly redirectUrl: string;
}

/** Transaction as the status API reports it. Amounts are as the gateway writes them, for example `185000.00`. */
export interface GatewayTransaction {
  readonly transactionId: string;
  /** One of `TRANSACTION_STATUSES`, unless the gateway has added a status. */
  readonly transactionStatus: string;
  readonly statusCode: string;
  readonly grossAmount: string;
  readonly paymentType: string;
  /** Null for some payment methods, for example convenience stores. */
  readonly fraudStatus: string | null;
  /** Sum of the transaction's refunds; null if there is none. */
  readonly refundAmount: string | null;
  /** Unchanged body of the gateway's response. */
  readonly payload: string;
}

/** The gateway is unreachable, too slow, or sent an unusable response. The call may have succeeded nevertheless. */
export class GatewayUnavailableError extends Error {
  override readonly name = 'GatewayUnavailableError';
}

/** The gateway rejected a request. The error message contains the gateway's reason. */
export class GatewayRejectedError extends Error {
  override readonly name = 'GatewayRejectedError';

  /** @param isOrderIdTaken true if the order id was used before: retry with a new id */
  constructor(
    message: string,
    readonly isOrderIdTaken = false,
  ) {
    super(message);
  }
}

/** Maximum duration of a call in milliseconds. */
export const CALL_DEADLINE_MS = 5000;

/**
 * Payment gateway (port and injection token). Implementations end every call within `CALL_DEADLINE_MS`, do not retry, and
 * never write the server key to an error or a log. Every method may throw GatewayUnavailableError. If the gateway rejects
 * the server key, `createTransaction` throws GatewayRejectedError, and the other methods throw GatewayUnavailableError.
 * Every `orderId` is the id of a payment attempt.
 */
export abstract class PaymentGateway {
  /**
   * Opens a payment page that is valid for 24 hours.
   * @param deadlineMs shorter limit than `CALL_DEADLINE_MS` for this call
   * @throws GatewayRejectedError if the id was used before (`isOrderIdTaken`) or the gateway rejects the request
   */
  abstract createTransaction(request: TransactionRequest, deadlineMs?: number): Promise<PaymentPage>;

  /** Returns the state of a payment; null until the customer chooses a payment method. */
  abstract status(orderId: string): Promise<GatewayTransaction | null>;

  /**
   * Cancels or expires a payment.
   * @returns the payment after the call, unchanged if its status allows no cancellation or expiry; null if the customer
   *   has not chosen a payment method
   */
  abstract end(orderId: string, status: 'cancel' | 'expire'): Promise<GatewayTransaction | null>;

  /**
   * Refunds a settled payment in full or in part.
   * @returns the payment after the refund, also if an earlier call with the same key made the refund
   * @throws GatewayRejectedError if the payment cannot be refunded, for example because of its payment method
   */
  abstract refund(orderId: string, request: RefundRequest): Promise<GatewayTransaction>;
}
