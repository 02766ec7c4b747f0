/** The gateway's transaction_status values (contract 3 and 6). */
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

/** Request for the payment page of an attempt. Amounts are whole rupiah. The items add up to `grossAmount`. */
export interface PaymentPageRequest {
  readonly attemptId: string;
  readonly grossAmount: number;
  readonly items: readonly Readonly<{ id: string; name: string; price: number; quantity: number }>[];
  readonly customer: Readonly<{ fullname: string; email: string }>;
  /** End of the page, and of every payment that is started on it. */
  readonly expiresAt: Date;
}

export type PaymentPage = Readonly<{ token: string; redirectUrl: string }>;

export interface RefundRequest {
  /** Calls with the same key refund only once. */
  readonly refundKey: string;
  /** Whole rupiah. */
  readonly amount: number;
  readonly reason: string | null;
}

/** Transaction as the status API reports it. Amounts are as the gateway writes them, for example `185000.00`. */
export interface GatewayTransaction {
  readonly transactionId: string;
  /** Id of the payment attempt, in lower case. The gateway calls it `order_id`. */
  readonly attemptId: string;
  /** May be a new status of the gateway that `TRANSACTION_STATUSES` does not contain. */
  readonly transactionStatus: string;
  readonly statusCode: string;
  readonly grossAmount: string;
  /** Null for some payment methods, for example convenience stores. */
  readonly fraudStatus: string | null;
  /** Sum of the transaction's refunds, or null. Only in the response to `refund`, Midtrans gives the amount of that refund. */
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
  override readonly name: string = 'GatewayRejectedError';

  /** @param reason the gateway's own text, for people: at most 300 characters, without the server key */
  constructor(
    message: string,
    readonly reason = message,
  ) {
    super(message);
  }
}

/** The gateway already knows the id of the payment attempt. A new attempt can succeed. */
export class AttemptIdTakenError extends GatewayRejectedError {
  override readonly name = 'AttemptIdTakenError';
}

/** Longest time of one call to the gateway, with its response. */
export const CALL_DEADLINE_MS = 5000;

/**
 * Payment gateway. The gateway calls the id of a payment attempt `order_id`, and opens only one payment page for each id.
 * A payment page can have several transactions: a customer whose card is denied can pay with another method.
 *
 * Implementations end every call to the gateway within `CALL_DEADLINE_MS`, do not retry, and never write the server key to
 * an error or a log. If the gateway rejects a change or a refund, a second call reads the status. Every method may throw
 * GatewayUnavailableError.
 */
export abstract class PaymentGateway {
  /**
   * Opens a payment page. Midtrans rounds the lifetime of the page to whole minutes, and to at least five.
   * @throws GatewayRejectedError also for a wrong server key, for which the other methods throw GatewayUnavailableError
   */
  abstract openPaymentPage(request: PaymentPageRequest): Promise<PaymentPage>;

  /**
   * @param id id of a transaction or of a payment attempt. An attempt stands for its latest transaction
   * @returns null for an unknown id, and until the customer chooses a payment method
   */
  abstract getTransaction(id: string): Promise<GatewayTransaction | null>;

  /**
   * @param id as for `getTransaction`
   * @returns the transaction afterwards, unchanged if its status forbids the change; null as for `getTransaction`
   */
  abstract cancelOrExpire(id: string, operation: 'cancel' | 'expire'): Promise<GatewayTransaction | null>;

  /**
   * Refunds a settled transaction in full or in part. The id is that of the transaction, because the id of the attempt would
   * only select the latest transaction.
   * @returns the transaction after the refund, also if an earlier call with the same key made the refund
   * @throws GatewayRejectedError if the transaction cannot be refunded, for example because of its payment method
   */
  abstract refund(transactionId: string, request: RefundRequest): Promise<GatewayTransaction>;
}
