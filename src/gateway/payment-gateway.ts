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

/** What a customer is to pay. Amounts are whole rupiah; the items add up to `grossAmount`. */
export interface TransactionRequest {
  /** Under this id the gateway knows the payment; it takes every id only once. */
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

/** Where a customer pays. */
export interface PaymentPage {
  readonly token: string;
  readonly redirectUrl: string;
}

/** What the gateway says of a transaction: the fields of a notification that the status API also has. */
export interface GatewayTransaction {
  readonly transactionId: string;
  /** One of `TRANSACTION_STATUSES`, unless the gateway has a new one. */
  readonly transactionStatus: string;
  readonly statusCode: string;
  /** As the gateway writes it, for example `185000.00`. */
  readonly grossAmount: string;
  readonly paymentType: string;
  /** Some payment methods have none, for example convenience stores. */
  readonly fraudStatus: string | null;
  /** The answer as received. */
  readonly payload: string;
}

/** The gateway is away, too slow, or gave an unusable answer. The call may have had its effect. */
export class GatewayUnavailableError extends Error {
  override readonly name = 'GatewayUnavailableError';
}

/** The gateway understood and said no; the message says why. */
export class GatewayRefusedError extends Error {
  override readonly name = 'GatewayRefusedError';

  /** @param isOrderIdTaken a new transaction's order id was used before: under another id it may be accepted */
  constructor(
    message: string,
    readonly isOrderIdTaken = false,
  ) {
    super(message);
  }
}

/**
 * The payment gateway (port; also its injection token). Implementations bound every call in time
 * (`CALL_DEADLINE_MS`), never retry by themselves, and let no server key into an error or a log.
 * Every method throws GatewayUnavailableError; `status` and `end` also when the server key is not accepted.
 */
export abstract class PaymentGateway {
  /**
   * Opens a payment page that is good for 24 hours.
   * @throws GatewayRefusedError when the order id was used before (`isOrderIdTaken`), the request is not acceptable,
   *   or the server key is not accepted
   */
  abstract createTransaction(request: TransactionRequest, deadlineMs?: number): Promise<PaymentPage>;

  /** What became of an order id's payment; null while the customer has not chosen how to pay. */
  abstract status(orderId: string): Promise<GatewayTransaction | null>;

  /**
   * Cancels or expires a payment.
   * @returns the payment as it is then: ended, or with the status that keeps it from being ended; null when the customer
   *   has not chosen how to pay
   */
  abstract end(orderId: string, status: 'cancel' | 'expire'): Promise<GatewayTransaction | null>;
}

/** Longest time of one call in milliseconds. */
export const CALL_DEADLINE_MS = 5000;
