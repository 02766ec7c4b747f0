import type { GatewayTransaction } from '../payment-gateway.js';
import { signatureOf } from '../signature.js';
import type { ChosenTransaction } from './simulator-transaction.entity.js';
import type { TransactionStatus } from './transitions.js';

const MERCHANT_ID = 'G000000000';
/** Jakarta's distance from UTC in milliseconds; the gateway writes its times there and does not say so. */
const GATEWAY_OFFSET_MS = 7 * 60 * 60 * 1000;

/** Status codes that are not 200. */
const STATUS_CODES: Partial<Record<TransactionStatus, string>> = {
  pending: '201',
  deny: '202',
  expire: '202',
  failure: '202',
};
/** The status API and the expiry itself answer another code than the notification carries. */
const EXPIRED_ANSWER_CODE = '407';

/** As the gateway writes a time: `YYYY-MM-DD HH:MM:SS` in GMT+7. */
export function gatewayTime(time: Date): string {
  return new Date(time.getTime() + GATEWAY_OFFSET_MS).toISOString().slice(0, 19).replace('T', ' ');
}

/**
 * The body of a notification, in the gateway's field order and with the fields that it adds to the documented ones.
 *
 * @param status the transaction's own, or an earlier one that is told late
 * @see https://docs.midtrans.com/docs/https-notification-webhooks
 */
export function notificationBody(
  transaction: ChosenTransaction,
  status: TransactionStatus,
  serverKey: string,
): string {
  const message = 'midtrans payment notification';
  return JSON.stringify(fieldsOf(transaction, status, STATUS_CODES[status] ?? '200', message, serverKey));
}

/** The same body under a signature that another key made. */
export function withBadSignature(body: string): string {
  const fields = JSON.parse(body) as { order_id: string; status_code: string; gross_amount: string };
  return JSON.stringify({ ...fields, signature_key: signatureOf(fields, 'not the server key') });
}

/** What the status API answers of a transaction. */
export function gatewayAnswer(transaction: ChosenTransaction, serverKey: string): GatewayTransaction {
  const { transactionStatus: status } = transaction;
  const code = status === 'expire' ? EXPIRED_ANSWER_CODE : (STATUS_CODES[status] ?? '200');
  const fields = fieldsOf(transaction, status, code, 'Success, transaction is found', serverKey);
  return {
    transactionId: transaction.transactionId,
    transactionStatus: status,
    statusCode: code,
    grossAmount: fields.gross_amount,
    paymentType: transaction.paymentType,
    fraudStatus: transaction.fraudStatus,
    payload: JSON.stringify(fields),
  };
}

function fieldsOf(
  transaction: ChosenTransaction,
  status: TransactionStatus,
  statusCode: string,
  statusMessage: string,
  serverKey: string,
) {
  const signed = {
    order_id: transaction.orderId,
    status_code: statusCode,
    gross_amount: amount(BigInt(transaction.grossAmount)),
  };
  const { settlementTime, fraudStatus } = transaction;
  return {
    ...transaction.paymentDetails,
    transaction_time: gatewayTime(transaction.transactionTime),
    transaction_status: status,
    transaction_id: transaction.transactionId,
    status_message: statusMessage,
    signature_key: signatureOf(signed, serverKey),
    ...(settlementTime !== null && status !== 'pending' && { settlement_time: gatewayTime(settlementTime) }),
    ...refundOf(transaction, status),
    payment_type: transaction.paymentType,
    merchant_id: MERCHANT_ID,
    ...signed,
    ...(fraudStatus !== null && { fraud_status: fraudStatus }),
    expiry_time: gatewayTime(transaction.expiresAt),
    currency: 'IDR',
  };
}

/** A refund's own fields; a partial one is half of the amount. */
function refundOf({ grossAmount }: ChosenTransaction, status: TransactionStatus) {
  if (status !== 'refund' && status !== 'partial_refund') return {};
  const total = BigInt(grossAmount);
  return { refund_amount: amount(status === 'refund' ? total : (total + 1n) / 2n) };
}

function amount(rupiah: bigint): string {
  return `${rupiah}.00`;
}
