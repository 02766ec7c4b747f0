import type {
  GatewayTransaction,
  PaymentPage,
  RefundRequest,
  TransactionRequest,
} from './payment-gateway.js';

type Fields = Readonly<Record<string, unknown>>;

export interface MidtransResponse {
  /** Mostly 200 from the Core API, whose result is `status_code` in the body. */
  readonly httpStatus: number;
  readonly text: string;
  /** `text` as a JSON object; null if it is none. */
  readonly fields: Fields | null;
}

const MAX_ITEM_TEXT = 50;
const MAX_CUSTOMER_TEXT = 255;
const MAX_URL_LENGTH = 2048;
const JAKARTA_OFFSET_MS = 7 * 60 * 60 * 1000;
const ONE_DAY = { unit: 'hours', duration: 24 } as const;

/**
 * Builds the request for a payment page. Both the page and the payment expire 24 hours from now. Without `page_expiry` the
 * account's setting applies. Without `start_time` a payment method that is chosen in the last hour stays payable for
 * another day.
 *
 * @see https://docs.midtrans.com/reference/json-objects
 */
export function toSnapRequest({ orderId, grossAmount, items, customer }: TransactionRequest, now: Date) {
  return {
    transaction_details: { order_id: orderId, gross_amount: grossAmount },
    item_details: items.map(({ id, name, price, quantity }) => ({
      id: truncate(id, MAX_ITEM_TEXT),
      // Alfamart payments fail on a vertical line.
      name: truncate(name.replaceAll('|', '/'), MAX_ITEM_TEXT),
      price,
      quantity,
    })),
    customer_details: { first_name: truncate(customer.fullname, MAX_CUSTOMER_TEXT), email: customer.email },
    expiry: { start_time: `${formatGatewayTime(now)} +0700`, ...ONE_DAY },
    page_expiry: ONE_DAY,
  };
}

/** @see https://docs.midtrans.com/reference/refund-transaction */
export function toRefundBody({ refundKey, amount, reason }: RefundRequest) {
  return { refund_key: refundKey, amount, ...(reason !== null && { reason }) };
}

/** @returns null if the text is not a JSON object */
export function parseObject(text: string): Fields | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? (value as Fields) : null;
  } catch {
    return null;
  }
}

/** @returns null without a token or an http(s) address */
export function parsePaymentPage({ fields }: MidtransResponse): PaymentPage | null {
  const token = parseText(fields?.token);
  const redirectUrl = parseText(fields?.redirect_url, MAX_URL_LENGTH);
  return token === null || redirectUrl === null || !isHttpUrl(redirectUrl) ? null : { token, redirectUrl };
}

/** @returns the reasons of a rejection by Snap in one line; null for any other response */
export function parseRejection({ httpStatus, fields }: MidtransResponse): string | null {
  const reasons = fields?.error_messages;
  if (httpStatus < 400 || httpStatus > 499 || !Array.isArray(reasons)) return null;
  return reasons.filter((reason) => typeof reason === 'string').join('; ');
}

/**
 * Returns true if a rejection says that the order id was used before: 406, or any message about the field if the id is
 * well-formed. The message itself is not compared, because Snap has worded it differently over time and in two languages.
 */
export function isOrderIdTaken(httpStatus: number, reasons: string, orderId: string): boolean {
  return httpStatus === 406 || (/order[_ ]?id/i.test(reasons) && /^[\w.~-]{1,50}$/.test(orderId));
}

/** @returns null if a required field is missing or a field is malformed or too long */
export function parseTransaction({ fields, text: payload }: MidtransResponse): GatewayTransaction | null {
  const required = {
    transactionId: parseText(fields?.transaction_id),
    transactionStatus: parseText(fields?.transaction_status),
    statusCode: parseText(fields?.status_code, 16),
    grossAmount: parseText(fields?.gross_amount, 32),
    paymentType: parseText(fields?.payment_type),
  };
  const fraudStatus = parseText(fields?.fraud_status);
  const isFraudStatusMalformed = fraudStatus === null && (fields?.fraud_status ?? null) !== null;
  if (isFraudStatusMalformed || !isComplete(required)) return null;
  return { ...required, fraudStatus, refundAmount: parseText(fields?.refund_amount, 32), payload };
}

/** Returns true if a status response lists a refund with this key. */
export function listsRefund(transaction: GatewayTransaction | null, refundKey: string): boolean {
  const refunds = parseObject(transaction?.payload ?? '')?.refunds;
  return (
    Array.isArray(refunds) && refunds.some((refund) => (refund as Fields | null)?.refund_key === refundKey)
  );
}

/** Formats a time as the gateway does: `2026-11-20 17:05:12`, in Jakarta. */
export function formatGatewayTime(time: Date): string {
  return new Date(time.getTime() + JAKARTA_OFFSET_MS).toISOString().slice(0, 19).replace('T', ' ');
}

function isComplete<K extends string>(texts: Record<K, string | null>): texts is Record<K, string> {
  return !Object.values(texts).includes(null);
}

function parseText(value: unknown, maxLength = 255): string | null {
  const isText =
    typeof value === 'string' && value !== '' && value.length <= maxLength && !value.includes('\0');
  return isText ? value : null;
}

function isHttpUrl(url: string): boolean {
  return /^https?:\/\//i.test(url) && URL.canParse(url);
}

/** Cuts a text to a number of UTF-16 units, and never in the middle of a surrogate pair. */
function truncate(value: string, maxLength: number): string {
  const end = /[\uD800-\uDBFF]/.test(value.charAt(maxLength - 1)) ? maxLength - 1 : maxLength;
  return value.length <= maxLength ? value : value.slice(0, end);
}
