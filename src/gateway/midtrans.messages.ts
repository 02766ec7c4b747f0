import { createHash, timingSafeEqual } from 'node:crypto';
import { DateTime } from 'luxon';
import type { GatewayTransaction, PaymentPage, PaymentPageRequest } from './payment-gateway.js';

type JsonObject = Readonly<Record<string, unknown>>;

export interface MidtransResponse {
  readonly httpStatus: number;
  readonly text: string;
  /** `text` as a JSON object; null if the text is not one. */
  readonly fields: JsonObject | null;
}

const JAKARTA_OFFSET_MS = 7 * 60 * 60 * 1000;
const MINUTE_MS = 60 * 1000;
/** Shortest lifetime of a page that Snap accepts. */
const MIN_LIFETIME_MINUTES = 5;

/**
 * Builds the request for a payment page. The page and its payments expire together, at a whole number of minutes from now.
 * Without `start_time`, the time to pay would begin when the customer chooses a payment method.
 * @see https://docs.midtrans.com/reference/json-objects
 * @see https://docs.midtrans.com/reference/expire-a-snap-session for the limits
 */
export function toSnapRequest(request: PaymentPageRequest, now: Date) {
  const { attemptId, grossAmount, items, customer, expiresAt } = request;
  const minutes = Math.round((expiresAt.getTime() - now.getTime()) / MINUTE_MS);
  const lifetime = { unit: 'minutes', duration: Math.max(minutes, MIN_LIFETIME_MINUTES) };
  return {
    transaction_details: { order_id: attemptId, gross_amount: grossAmount },
    // Alfamart payments fail on a vertical line.
    item_details: items.map((item) => ({ ...item, name: truncate(item.name.replaceAll('|', '/'), 50) })),
    customer_details: { first_name: truncate(customer.fullname, 255), email: customer.email },
    expiry: { start_time: `${formatGatewayTime(now)} +0700`, ...lifetime },
    page_expiry: lifetime,
  };
}

export function parsePaymentPage({ fields }: MidtransResponse): PaymentPage | null {
  const token = parseText(fields?.token);
  const redirectUrl = parseText(fields?.redirect_url, 2048);
  const isHttpUrl = redirectUrl !== null && /^https?:\/\//i.test(redirectUrl) && URL.canParse(redirectUrl);
  return token !== null && isHttpUrl ? { token, redirectUrl } : null;
}

/** Returns Snap's reasons for a rejection, otherwise null. 408, 429 and responses without reasons are not rejections. */
export function parseRejection({ httpStatus, fields }: MidtransResponse): string | null {
  const reasons = fields?.error_messages;
  const isRejected = httpStatus >= 400 && httpStatus < 500 && httpStatus !== 408 && httpStatus !== 429;
  if (!isRejected || !Array.isArray(reasons)) return null;
  return reasons.filter((reason) => typeof reason === 'string').join('; ') || null;
}

/**
 * Returns true if a rejection says that the order id was used before: 406, or any message about the order id, because our
 * ids are well-formed. Snap has worded the message differently over time and in two languages.
 */
export function isOrderIdTaken(httpStatus: number, reasons: string): boolean {
  return httpStatus === 406 || /order[_ ]?id/i.test(reasons);
}

/**
 * Returns the `status_code` in the body of a 2xx or 4xx response of the Core API. Without a `status_code`, an HTTP status 401
 * is `401`, and any other is `none`: a 404 may come from a wrong address or a proxy and does not mean "no such payment".
 */
export function parseStatusCode({ httpStatus, fields }: MidtransResponse): string {
  const code = fields?.status_code;
  const isCodeTrusted = httpStatus < 300 || (httpStatus >= 400 && httpStatus < 500);
  if (isCodeTrusted && typeof code === 'string' && /^\d{3}$/.test(code)) return code;
  return httpStatus === 401 ? '401' : 'none';
}

/**
 * Returns the transaction of a response; null if a required field is missing or malformed.
 * @param id requested id. It replaces an `order_id` that is missing or that repeats the transaction id.
 */
export function parseTransaction(
  { fields, text: payload }: Pick<MidtransResponse, 'fields' | 'text'>,
  id: string,
): GatewayTransaction | null {
  const required = {
    transactionId: parseText(fields?.transaction_id),
    transactionStatus: parseText(fields?.transaction_status),
    statusCode: parseText(fields?.status_code, 16),
    grossAmount: parseText(fields?.gross_amount, 32),
  };
  const fraudStatus = parseText(fields?.fraud_status);
  const isFraudStatusMalformed = fraudStatus === null && (fields?.fraud_status ?? null) !== null;
  if (isFraudStatusMalformed || !isComplete(required)) return null;
  const orderId = parseText(fields?.order_id) ?? id;
  const attemptId = (orderId === required.transactionId ? id : orderId).toLowerCase();
  const refundAmount = parseText(fields?.refund_amount, 32);
  return { ...required, attemptId, fraudStatus, refundAmount, payload };
}

/** Returns true if a transaction has a refund with this key or, if the response has no list of refunds, was refunded in full. */
export function isRefunded({ transactionStatus, payload }: GatewayTransaction, refundKey: string): boolean {
  const refunds = parseJsonObject(payload)?.refunds;
  if (!Array.isArray(refunds)) return transactionStatus === 'refund';
  return refunds.some((refund: JsonObject | null) => refund?.refund_key === refundKey);
}

/** Returns null for a text that is not JSON, or whose value is not an object. */
export function parseJsonObject(text: string): JsonObject | null {
  try {
    // The parser of requests ignores a byte order mark, too.
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    return typeof value === 'object' ? (value as JsonObject) : null;
  } catch {
    return null;
  }
}

/** Returns the milliseconds of an ISO 8601 time, also with a space instead of the `T`. A time without an offset is in Jakarta. */
export function parseGatewayTime(value: unknown): number | null {
  if (typeof value !== 'string') return null;
  const time = DateTime.fromISO(value.replace(' ', 'T'), { zone: 'Asia/Jakarta' });
  return time.isValid ? time.toMillis() : null;
}

/** Formats a time as the gateway does: `2026-11-20 17:05:12`, in Jakarta. */
export function formatGatewayTime(time: Date): string {
  return new Date(time.getTime() + JAKARTA_OFFSET_MS).toISOString().slice(0, 19).replace('T', ' ');
}

/** Fields that a signature covers, exactly as they were sent. */
type SignedFields = Readonly<Record<'order_id' | 'status_code' | 'gross_amount', string>>;

/** Computes `signature_key` of a notification (contract 5, rule 5). */
export function computeSignature(fields: SignedFields, serverKey: string): string {
  const text = fields.order_id + fields.status_code + fields.gross_amount + serverKey;
  return createHash('sha512').update(text).digest('hex');
}

/** Returns true for the right signature. The comparison takes constant time. */
export function isValidSignature(fields: SignedFields, signature: string, serverKey: string): boolean {
  const expected = Buffer.from(computeSignature(fields, serverKey));
  const actual = Buffer.from(signature.toLowerCase());
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

function isComplete<K extends string>(texts: Record<K, string | null>): texts is Record<K, string> {
  return !Object.values(texts).includes(null);
}

/** Returns null for a value that is not a text, is empty or too long, or that PostgreSQL cannot store. */
export function parseText(value: unknown, maxLength = 255): string | null {
  const isText = typeof value === 'string' && value.length <= maxLength && !value.includes('\0');
  return isText && value !== '' ? value : null;
}

/** Cuts a text to at most this number of UTF-16 units, and never in the middle of a surrogate pair. */
function truncate(value: string, maxLength: number): string {
  return value.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, '');
}
