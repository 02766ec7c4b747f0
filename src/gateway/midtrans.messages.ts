import type { GatewayTransaction, PaymentPage, TransactionRequest } from './payment-gateway.js';

/** What the gateway answered, with any status. */
export interface MidtransAnswer {
  /** The Core API mostly answers 200 and tells the truth in the body's `status_code`. */
  readonly httpStatus: number;
  readonly text: string;
  /** The JSON object that `text` holds; null when it holds none. */
  readonly fields: Readonly<Record<string, unknown>> | null;
}

/** Longest item name and item id. */
const MAX_ITEM_TEXT = 50;
const MAX_CUSTOMER_TEXT = 255;
const MAX_URL_LENGTH = 2048;
const JAKARTA_OFFSET_MS = 7 * 60 * 60 * 1000;
const ONE_DAY = { unit: 'hours', duration: 24 } as const;

/**
 * The body that asks Snap for a payment page. Both ends are set: without `page_expiry` the account's own setting
 * rules, and without `start_time` a payment method chosen in the page's last hour could be paid a day after it.
 *
 * @see https://docs.midtrans.com/reference/json-objects
 */
export function snapRequest({ orderId, grossAmount, items, customer }: TransactionRequest, now: Date) {
  return {
    transaction_details: { order_id: orderId, gross_amount: grossAmount },
    item_details: items.map(({ id, name, price, quantity }) => ({
      id: cut(id, MAX_ITEM_TEXT),
      // Alfamart payments fail on a vertical line.
      name: cut(name.replaceAll('|', '/'), MAX_ITEM_TEXT),
      price,
      quantity,
    })),
    customer_details: { first_name: cut(customer.fullname, MAX_CUSTOMER_TEXT), email: customer.email },
    expiry: { start_time: `${gatewayTime(now)} +0700`, ...ONE_DAY },
    page_expiry: ONE_DAY,
  };
}

/** @returns null for a text that holds no JSON object */
export function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** @returns null if the fields hold no token or no http(s) address */
export function paymentPageOf({ fields }: MidtransAnswer): PaymentPage | null {
  const token = text(fields?.token);
  const redirectUrl = text(fields?.redirect_url, MAX_URL_LENGTH);
  return token === null || redirectUrl === null || !isHttpUrl(redirectUrl) ? null : { token, redirectUrl };
}

/** @returns what Snap gives as reasons for a refusal, in one line; null if the answer is no refusal of Snap's */
export function refusalOf({ httpStatus, fields }: MidtransAnswer): string | null {
  const reasons = fields?.error_messages;
  if (httpStatus < 400 || httpStatus > 499 || !Array.isArray(reasons)) return null;
  return reasons.filter((reason) => typeof reason === 'string').join('; ');
}

/**
 * Whether a refusal is about an order id that was used before. Snap has worded this differently over time and in
 * two languages, so only the name of the field is looked for: about an id of acceptable form there is nothing else
 * to say. The Core API's code for it is 406.
 */
export function saysOrderIdTaken(httpStatus: number, refusal: string, orderId: string): boolean {
  return httpStatus === 406 || (/order[_ ]?id/i.test(refusal) && /^[\w.~-]{1,50}$/.test(orderId));
}

/** @returns null if a field is missing, empty or longer than a notification's may be */
export function transactionOf({ fields, text: payload }: MidtransAnswer): GatewayTransaction | null {
  const required = {
    transactionId: text(fields?.transaction_id),
    transactionStatus: text(fields?.transaction_status),
    statusCode: text(fields?.status_code, 16),
    grossAmount: text(fields?.gross_amount, 32),
    paymentType: text(fields?.payment_type),
  };
  const fraudStatus = text(fields?.fraud_status);
  const isFraudStatusBad = fraudStatus === null && (fields?.fraud_status ?? null) !== null;
  return isFraudStatusBad || !isComplete(required) ? null : { ...required, fraudStatus, payload };
}

function isComplete<K extends string>(texts: Record<K, string | null>): texts is Record<K, string> {
  return !Object.values(texts).includes(null);
}

function text(value: unknown, maxLength = 255): string | null {
  const isText =
    typeof value === 'string' && value !== '' && value.length <= maxLength && !value.includes('\0');
  return isText ? value : null;
}

function isHttpUrl(url: string): boolean {
  return /^https?:\/\//i.test(url) && URL.canParse(url);
}

/** At most so many UTF-16 units, hence characters by any count, and never half of a surrogate pair. */
function cut(value: string, maxLength: number): string {
  const end = /[\uD800-\uDBFF]/.test(value.charAt(maxLength - 1)) ? maxLength - 1 : maxLength;
  return value.length <= maxLength ? value : value.slice(0, end);
}

/** As the gateway writes a time: `2026-11-20 17:05:12`, in Jakarta. */
export function gatewayTime(time: Date): string {
  return new Date(time.getTime() + JAKARTA_OFFSET_MS).toISOString().slice(0, 19).replace('T', ' ');
}
