import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { computeSignature } from './notifications.js';
import { type ResponseContent, type Call, type Fault, StandIn } from './stand-in.js';
import { startServer } from './stop-after-use.js';

export type MidtransOperation = 'create' | 'status' | 'cancel' | 'expire' | 'refund';
export type MidtransFault = Fault<MidtransOperation>;

interface MidtransCall extends Call<MidtransOperation> {
  /** Id of an order or a transaction in the path; null for a creation. */
  readonly id: string | null;
  /** Order that `id` belongs to, or `id` if there is none. For a creation, order id in the body: null until that is read. */
  orderId: string | null;
  /** True if the call carried the server key and no password; null before the call is read. */
  isAuthorized: boolean | null;
  /** Parsed JSON; undefined for an empty body. */
  body: unknown;
}

/** `status_code` by status. In a notification, `expire` and `cancel` have the code 202. */
const STATUS_CODES = {
  capture: '200',
  settlement: '200',
  pending: '201',
  deny: '202',
  cancel: '200',
  expire: '407',
  failure: '202',
  refund: '200',
  partial_refund: '200',
  authorize: '200',
  chargeback: '200',
} as const;
export type MidtransStatus = keyof typeof STATUS_CODES;

/** Payment with a payment method that the customer has chosen. */
interface MidtransTransaction {
  readonly transactionId: string;
  status: MidtransStatus;
  paymentType: string;
  /** If null, responses and notifications do not contain the field. */
  fraudStatus: string | null;
  /** For example `185000.00`. */
  grossAmount: string;
  readonly transactionTime: Date;
  readonly refunds: MidtransRefund[];
}

interface MidtransRefund {
  readonly refund_key: string;
  readonly amount: number;
}

/** Order at the gateway, with its payment page. The service creates a new order there for each payment attempt. */
interface MidtransOrder {
  /** Id of the payment attempt. The first attempt has the same id as the order in the service. */
  readonly orderId: string;
  readonly token: string;
  readonly grossAmount: number;
  /** Oldest first; empty until a payment method is chosen. The status API returns the last one. */
  readonly transactions: MidtransTransaction[];
}

/** Fields to set. `transactionId` selects the transaction, by default the last one; an unknown id starts a new one. */
export type TransactionChange = Partial<
  Pick<MidtransTransaction, 'paymentType' | 'fraudStatus' | 'grossAmount' | 'transactionId'>
>;

export type NotificationFields = Readonly<Record<string, unknown>>;

/** Statuses in which a transaction can be cancelled or can expire. */
const STATUSES_BEFORE: Record<'cancel' | 'expire', readonly MidtransStatus[]> = {
  cancel: ['pending', 'authorize', 'capture'],
  expire: ['pending'],
};

/** Payment methods that the real gateway does not refund. */
const UNREFUNDABLE = ['bank_transfer', 'cstore'];

interface SnapRequest {
  readonly transaction_details: { readonly order_id: string; readonly gross_amount: number };
  readonly item_details: readonly {
    readonly name: string;
    readonly price: number;
    readonly quantity: number;
  }[];
}

/**
 * Midtrans on loopback, with responses in the real shapes: Snap's `POST /transactions`, the Core API's
 * `status`, `cancel`, `expire` and `refund`, and signed notifications.
 *
 * @see https://docs.midtrans.com/reference/backend-integration
 */
export class MidtransStandIn extends StandIn<MidtransOperation, MidtransCall> {
  /** Orders at the gateway by `orderId`. */
  readonly orders = new Map<string, MidtransOrder>();
  /** True if `order_id` in the responses to `status`, `cancel` and `expire` contains the transaction id. */
  returnsTransactionIdAsOrderId = false;
  /** True if a repeated refund key gets 406; by default, 200 without another refund. Midtrans documents both behaviors. */
  rejectsRepeatedRefundKeys = false;
  /** True if the HTTP status of the Core API equals the `status_code` in the body. The real API mostly responds with 200. */
  httpStatusFollowsCode = false;

  static start({ serverKey = 'SB-Mid-server-TOq1a2AVuiyhhOjvfs3U' } = {}): Promise<MidtransStandIn> {
    return startServer(new MidtransStandIn(serverKey));
  }

  private constructor(readonly serverKey: string) {
    super();
  }

  get snapUrl(): string {
    return `${this.apiUrl}/snap/v1`;
  }

  get apiUrl(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Restores the default behavior. The orders stay, because later notifications may belong to them. */
  override reset(): void {
    super.reset();
    this.returnsTransactionIdAsOrderId = false;
    this.rejectsRepeatedRefundKeys = false;
    this.httpStatusFollowsCode = false;
  }

  /** Creates an order with a payment page. Tests may also call this method, without a request of the service. */
  openPaymentPage(orderId: string, grossAmount: number): MidtransOrder {
    const order = { orderId, token: randomUUID(), grossAmount, transactions: [] };
    this.orders.set(orderId, order);
    return order;
  }

  /** @throws Error for an order id without a payment page */
  order(orderId: string): MidtransOrder {
    const order = this.orders.get(orderId);
    if (order === undefined) throw new Error(`unknown order id ${orderId}`);
    return order;
  }

  /** Returns the status of the last transaction of a payment attempt; undefined if no payment method was chosen. */
  statusOf(orderId: string): MidtransStatus | undefined {
    return this.order(orderId).transactions.at(-1)?.status;
  }

  /** Settles a payment without sending a notification. */
  settle(orderId: string, change: TransactionChange = {}): MidtransTransaction {
    return this.setStatus(orderId, 'settlement', change);
  }

  /** Sets the status of a payment without sending a notification. The first call creates the transaction. */
  setStatus(orderId: string, status: MidtransStatus, change: TransactionChange = {}): MidtransTransaction {
    const { transactions, grossAmount } = this.order(orderId);
    const id = change.transactionId ?? transactions.at(-1)?.transactionId;
    let transaction = transactions.find(({ transactionId }) => transactionId === id);
    if (transaction === undefined) {
      transaction = {
        transactionId: id ?? randomUUID(),
        status,
        paymentType: 'bank_transfer',
        fraudStatus: change.paymentType === 'cstore' ? null : 'accept',
        grossAmount: `${grossAmount}.00`,
        transactionTime: new Date(),
        refunds: [],
      };
      transactions.push(transaction);
    }
    return Object.assign(transaction, change, { status });
  }

  /**
   * Builds a signed notification of the last transaction, or of the one whose id is `transaction_id` in `overrides`.
   * @param overrides fields to replace before signing; `undefined` removes a field. A `signature_key` replaces the
   *   computed one
   */
  notification(orderId: string, overrides: NotificationFields = {}): NotificationFields {
    const { transactions } = this.order(orderId);
    const named = transactions.find(({ transactionId }) => transactionId === overrides.transaction_id);
    const transaction = named ?? transactions.at(-1);
    if (transaction === undefined) throw new Error(`no payment method was chosen for ${orderId}`);
    const { status } = transaction;
    return this.#sign({
      ...describeTransaction(orderId, transaction),
      status_code: ['expire', 'cancel'].includes(status) ? '202' : STATUS_CODES[status],
      status_message: 'midtrans payment notification',
      ...overrides,
    });
  }

  protected begin({ method, url = '' }: IncomingMessage): MidtransCall | null {
    const unread = { id: null, orderId: null, isAuthorized: null, body: undefined };
    if (method === 'POST' && url === '/snap/v1/transactions') return { operation: 'create', ...unread };
    const [, path = '', operation] = /^\/v2\/([^/?#]+)\/(status|cancel|expire|refund)$/.exec(url) ?? [];
    if (operation === undefined || method !== (operation === 'status' ? 'GET' : 'POST')) return null;
    const id = decodeURIComponent(path);
    const orderId = this.#find(id)?.orderId ?? id;
    return { operation: operation as MidtransOperation, ...unread, id, orderId };
  }

  protected read(call: MidtransCall, { headers }: IncomingMessage, body: Buffer): void {
    call.body = body.length === 0 ? undefined : JSON.parse(body.toString());
    call.orderId ??= (call.body as Partial<SnapRequest>).transaction_details?.order_id ?? null;
    const expected = `Basic ${Buffer.from(`${this.serverKey}:`).toString('base64')}`;
    call.isAuthorized = headers.authorization === expected;
  }

  protected perform(call: MidtransCall): ResponseContent {
    return call.operation === 'create' ? this.#create(call) : this.#callCoreApi(call, call.operation);
  }

  #create({ isAuthorized, body }: MidtransCall): ResponseContent {
    if (isAuthorized !== true) return rejectCreation(401, 'Access denied due to unauthorized transaction');
    const { transaction_details: details, item_details: items } = body as SnapRequest;
    if (items.some(({ name }) => name === '' || name.length > 50))
      return rejectCreation(400, 'item_details.name format is invalid');
    const sum = items.reduce((total, { price, quantity }) => total + price * quantity, 0);
    if (sum !== details.gross_amount)
      return rejectCreation(400, 'transaction_details.gross_amount is not equal to the sum of item_details');
    if (this.orders.has(details.order_id))
      return rejectCreation(400, 'transaction_details.order_id has already been taken');
    const { token } = this.openPaymentPage(details.order_id, details.gross_amount);
    return { status: 201, body: { token, redirect_url: `${this.apiUrl}/snap/v4/redirection/${token}` } };
  }

  #callCoreApi(call: MidtransCall, operation: Exclude<MidtransOperation, 'create'>): ResponseContent {
    if (call.isAuthorized !== true) {
      const message = 'Transaction cannot be authorized with the current client/server key.';
      return { status: 401, body: { status_code: '401', status_message: message } };
    }
    const found = this.#find(call.id ?? '');
    if (found === undefined) return this.#respond('404', { status_message: "Transaction doesn't exist." });
    const { orderId, transaction } = found;
    if (operation === 'refund') return this.#refund(orderId, transaction, call.body as MidtransRefund);
    if (operation !== 'status') {
      if (!STATUSES_BEFORE[operation].includes(transaction.status))
        return this.#respond('412', { status_message: 'Transaction status cannot be updated.' });
      transaction.status = operation;
    }
    const code = STATUS_CODES[transaction.status];
    const fields = this.#sign({ ...describeTransaction(orderId, transaction), status_code: code });
    const message = { status_message: 'Success, transaction is found' };
    const renamed = this.returnsTransactionIdAsOrderId && { order_id: transaction.transactionId };
    return this.#respond(code, { ...fields, ...message, ...renamed });
  }

  /** Finds a transaction by its id, or the latest transaction of an order by the order's id. */
  #find(id: string): { orderId: string; transaction: MidtransTransaction } | undefined {
    for (const { orderId, transactions } of this.orders.values()) {
      const transaction =
        orderId === id ? transactions.at(-1) : transactions.find(({ transactionId }) => transactionId === id);
      if (transaction !== undefined) return { orderId, transaction };
    }
    return undefined;
  }

  #refund(orderId: string, transaction: MidtransTransaction, body: MidtransRefund): ResponseContent {
    const { refund_key, amount } = body;
    const isRepeated = transaction.refunds.some((refund) => refund.refund_key === refund_key);
    if (isRepeated && this.rejectsRepeatedRefundKeys)
      return this.#respond('406', { status_message: 'Duplicate refund ID' });
    if (!isRepeated) {
      if (UNREFUNDABLE.includes(transaction.paymentType))
        return this.#respond('418', { status_message: 'Payment provider does not support refund' });
      if (transaction.status !== 'settlement' && transaction.status !== 'partial_refund')
        return this.#respond('412', {
          status_message: 'Merchant cannot modify the status of the transaction',
        });
      const rest = Number(transaction.grossAmount) - sumOf(transaction.refunds);
      if (amount > rest)
        return this.#respond('414', { status_message: 'Refund request is rejected due to invalid amount' });
      transaction.refunds.push({ refund_key, amount });
      transaction.status = amount === rest ? 'refund' : 'partial_refund';
    }
    const { refunds: _, ...fields } = describeTransaction(orderId, transaction);
    return this.#respond('200', {
      ...fields,
      status_message: 'Success, refund request is approved',
      refund_chargeback_id: transaction.refunds.length,
      refund_amount: `${amount}.00`,
      refund_key,
    });
  }

  #respond(code: string, fields: NotificationFields): ResponseContent {
    return {
      status: this.httpStatusFollowsCode ? Number(code) : 200,
      body: { ...fields, status_code: code },
    };
  }

  #sign(fields: NotificationFields): NotificationFields {
    const signed = fields as Record<'order_id' | 'status_code' | 'gross_amount', string>;
    return { signature_key: computeSignature(signed, this.serverKey), ...fields };
  }
}

function describeTransaction(orderId: string, transaction: MidtransTransaction): NotificationFields {
  return {
    ...(transaction.paymentType === 'cstore' && { store: 'indomaret' }),
    transaction_time: formatGatewayTime(transaction.transactionTime),
    transaction_status: transaction.status,
    transaction_id: transaction.transactionId,
    payment_type: transaction.paymentType,
    order_id: orderId,
    gross_amount: transaction.grossAmount,
    ...(transaction.fraudStatus !== null && { fraud_status: transaction.fraudStatus }),
    currency: 'IDR',
    ...describeRefunds(transaction.refunds),
  };
}

/** Describes the refunds of a transaction, whose own `refund_amount` is the sum of all refunds. */
function describeRefunds(refunds: readonly MidtransRefund[]): NotificationFields {
  if (refunds.length === 0) return {};
  return {
    refund_amount: `${sumOf(refunds)}.00`,
    refunds: refunds.map(({ refund_key, amount }) => ({ refund_key, refund_amount: `${amount}.00` })),
  };
}

function sumOf(refunds: readonly MidtransRefund[]): number {
  return refunds.reduce((sum, { amount }) => sum + amount, 0);
}

/** Formats a time as the gateway does: `2026-11-20 17:05:12`. */
function formatGatewayTime(time: Date): string {
  return time.toLocaleString('sv', { timeZone: 'Asia/Jakarta' });
}

function rejectCreation(status: number, message: string): ResponseContent {
  return { status, body: { error_messages: [message] } };
}
