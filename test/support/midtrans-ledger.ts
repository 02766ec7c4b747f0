import { createHash, randomInt, randomUUID } from 'node:crypto';

export type MidtransStatus =
  | 'capture'
  | 'settlement'
  | 'pending'
  | 'deny'
  | 'cancel'
  | 'expire'
  | 'failure'
  | 'refund'
  | 'partial_refund'
  | 'authorize';

/** One try of a customer to pay. */
export interface MidtransTransaction {
  readonly transactionId: string;
  status: MidtransStatus;
  paymentType: string;
  /** Null: left out of every answer and notification. */
  fraudStatus: string | null;
  /** As the gateway writes it. */
  grossAmount: string;
  readonly transactionTime: Date;
  settlementTime: Date | null;
}

/** An order id that the gateway knows. */
export interface MidtransOrder {
  readonly orderId: string;
  readonly token: string;
  /** Body of the request that opened it. */
  readonly request: unknown;
  readonly grossAmount: number;
  /** In order of creation; the last one is what the status API tells of. Empty until a method is chosen. */
  readonly transactions: MidtransTransaction[];
}

export interface StatusChange {
  /** `bank_transfer` unless the transaction has one. */
  readonly paymentType?: string;
  /** `accept` unless the transaction has one, and null (none) for `cstore`. */
  readonly fraudStatus?: string | null;
  readonly grossAmount?: string;
  /** The last transaction's by default; an id that the order does not have begins a new transaction. */
  readonly transactionId?: string;
}

/** A notification's body; every field may be overridden, and left out with undefined. */
export type NotificationFields = Record<string, unknown>;

/** Status code of a transaction in the status API (`expire`: 407) and in notifications (202). */
const STATUS_CODES: Record<MidtransStatus, string> = {
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
};

/** What Snap has against a request, in its own words where they are known; empty if nothing. */
export function objectionsTo(body: unknown): string[] {
  const order = field(body, 'transaction_details');
  const [orderId, grossAmount] = [field(order, 'order_id'), field(order, 'gross_amount')];
  const objections: string[] = [];
  const demand = (holds: boolean, otherwise: string) => {
    if (!holds) objections.push(otherwise);
  };
  demand(typeof orderId === 'string' && orderId !== '', 'transaction_details.order_id is required');
  demand(lengthOf(orderId) <= 50, 'transaction_details.order_id too long');
  demand(/^[\w.~-]*$/.test(String(orderId)), 'transaction_details.order_id contains unallowed characters');
  demand(Number.isSafeInteger(grossAmount), 'transaction_details.gross_amount is not a number');
  demand(Number(grossAmount) >= 1, 'transaction_details.gross_amount must be greater than or equal to 0.01');
  objections.push(...objectionsToItems(field(body, 'item_details'), grossAmount));
  const customer = field(body, 'customer_details');
  demand(
    /^\S{1,64}@\S{1,190}$/.test(String(field(customer, 'email'))),
    'customer_details.email format is invalid',
  );
  demand(lengthOf(field(customer, 'first_name')) <= 255, 'customer_details.first_name too long');
  for (const name of ['expiry', 'page_expiry']) {
    const expiry = field(body, name);
    const duration = field(expiry, 'duration');
    demand(/^(minute|hour|day)s?$/.test(String(field(expiry, 'unit'))), `${name}.unit is invalid`);
    demand(Number.isSafeInteger(duration) && Number(duration) > 0, `${name}.duration is invalid`);
  }
  const startTime = field(field(body, 'expiry'), 'start_time') ?? '2026-01-01 00:00:00 +0700';
  demand(
    typeof startTime === 'string' && /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}$/.test(startTime),
    'expiry.start_time is invalid',
  );
  return objections;
}

function objectionsToItems(items: unknown, grossAmount: unknown): string[] {
  if (!Array.isArray(items) || items.length === 0) return ['item_details is required'];
  const objections: string[] = [];
  let sum = 0;
  for (const item of items as unknown[]) {
    const [name, price, quantity] = [field(item, 'name'), field(item, 'price'), field(item, 'quantity')];
    if (typeof name !== 'string' || name === '') objections.push('item_details Name is required');
    if (lengthOf(name) > 50) objections.push('item_details Name too long');
    if (typeof name === 'string' && /[\uD800-\uDFFF]/u.test(name))
      objections.push('item_details Name is malformed');
    if (lengthOf(field(item, 'id')) > 50) objections.push('item_details Id too long');
    if (!Number.isSafeInteger(price)) objections.push('item_details.price is not a number');
    if (!Number.isSafeInteger(quantity) || Number(quantity) < 1) {
      objections.push('item_details.quantity must be greater than or equal to 1');
    }
    sum += Number(price) * Number(quantity);
  }
  if (sum !== grossAmount) {
    objections.push('transaction_details.gross_amount is not equal to the sum of item_details');
  }
  return objections;
}

/** The change that a customer's or a bank's doing brings. @returns the transaction it concerns */
export function changeStatus(
  order: MidtransOrder,
  status: MidtransStatus,
  change: StatusChange,
): MidtransTransaction {
  const id = change.transactionId ?? order.transactions.at(-1)?.transactionId;
  let transaction = order.transactions.find(({ transactionId }) => transactionId === id);
  if (transaction === undefined) {
    const paymentType = change.paymentType ?? 'bank_transfer';
    transaction = {
      transactionId: id ?? randomUUID(),
      status,
      paymentType,
      fraudStatus: paymentType === 'cstore' ? null : 'accept',
      grossAmount: `${order.grossAmount}.00`,
      transactionTime: new Date(),
      settlementTime: null,
    };
    order.transactions.push(transaction);
  }
  transaction.status = status;
  if (change.paymentType !== undefined) transaction.paymentType = change.paymentType;
  if (change.fraudStatus !== undefined) transaction.fraudStatus = change.fraudStatus;
  if (change.grossAmount !== undefined) transaction.grossAmount = change.grossAmount;
  if (status === 'settlement') transaction.settlementTime ??= new Date();
  return transaction;
}

/** A transaction as the status API shows it. */
export function statusAnswer(
  order: MidtransOrder,
  transaction: MidtransTransaction,
  serverKey: string,
): NotificationFields {
  const statusCode = STATUS_CODES[transaction.status];
  return {
    ...describe(order, transaction),
    status_code: statusCode,
    status_message: 'Success, transaction is found',
    signature_key: sign(order.orderId, statusCode, transaction.grossAmount, serverKey),
  };
}

/** The answer to a cancel or an expire call that was carried out. */
export function changeAnswer(order: MidtransOrder, transaction: MidtransTransaction): NotificationFields {
  const expired = transaction.status === 'expire';
  return {
    status_code: expired ? '407' : '200',
    status_message: expired ? 'Success, transaction has expired' : 'Success, transaction is canceled',
    transaction_id: transaction.transactionId,
    order_id: order.orderId,
    merchant_id: MERCHANT_ID,
    gross_amount: transaction.grossAmount,
    currency: 'IDR',
    payment_type: transaction.paymentType,
    transaction_time: gatewayTime(transaction.transactionTime),
    transaction_status: transaction.status,
    ...(transaction.fraudStatus !== null && { fraud_status: transaction.fraudStatus }),
  };
}

/** A notification of the transaction's present state; signed over what it says after the overrides. */
export function notificationOf(
  order: MidtransOrder,
  transaction: MidtransTransaction,
  serverKey: string,
  overrides: NotificationFields = {},
): NotificationFields {
  const fields: NotificationFields = {
    ...describe(order, transaction),
    status_code: transaction.status === 'expire' ? '202' : STATUS_CODES[transaction.status],
    status_message: 'midtrans payment notification',
    ...overrides,
  };
  const signature = sign(
    String(fields.order_id),
    String(fields.status_code),
    String(fields.gross_amount),
    serverKey,
  );
  return { ...fields, signature_key: 'signature_key' in overrides ? overrides.signature_key : signature };
}

/** `2026-11-20 17:05:12` in GMT+7, which the gateway does not say. */
export function gatewayTime(time: Date): string {
  return new Date(time.getTime() + 7 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');
}

const MERCHANT_ID = 'G141532850';

function describe(order: MidtransOrder, transaction: MidtransTransaction): NotificationFields {
  const { status, transactionTime, settlementTime } = transaction;
  return {
    ...extraFields(transaction.paymentType),
    transaction_time: gatewayTime(transactionTime),
    transaction_status: status,
    transaction_id: transaction.transactionId,
    ...(settlementTime !== null && { settlement_time: gatewayTime(settlementTime) }),
    payment_type: transaction.paymentType,
    order_id: order.orderId,
    merchant_id: MERCHANT_ID,
    gross_amount: transaction.grossAmount,
    ...(transaction.fraudStatus !== null && { fraud_status: transaction.fraudStatus }),
    expiry_time: gatewayTime(new Date(transactionTime.getTime() + 24 * 3_600_000)),
    currency: 'IDR',
  };
}

/** What each payment method adds. */
function extraFields(paymentType: string): NotificationFields {
  switch (paymentType) {
    case 'bank_transfer':
      return { va_numbers: [{ va_number: '14153285012345', bank: 'bca' }], payment_amounts: [] };
    case 'credit_card':
      return {
        masked_card: '48111111-1114',
        bank: 'bni',
        card_type: 'credit',
        approval_code: '1578569243927',
        eci: '05',
        channel_response_code: '00',
        channel_response_message: 'Approved',
      };
    case 'cstore':
      return { store: 'indomaret', payment_code: '14153285011234' };
    case 'echannel':
      return { biller_code: '70012', bill_key: String(randomInt(1e11, 1e12)) };
    case 'qris':
    case 'gopay':
      return { transaction_type: 'on-us', issuer: 'gopay', acquirer: 'gopay' };
    default:
      return {};
  }
}

function sign(orderId: string, statusCode: string, grossAmount: string, serverKey: string): string {
  return createHash('sha512').update(`${orderId}${statusCode}${grossAmount}${serverKey}`).digest('hex');
}

export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' ? value.length : 0;
}
