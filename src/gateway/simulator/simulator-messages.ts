import type { GatewayTransaction } from '../payment-gateway.js';
import { signatureOf } from '../signature.js';
import type { ChosenTransaction, TransactionStatus } from './simulator-transaction.entity.js';

/** Jakarta's distance from UTC in milliseconds; the gateway writes its times there and does not say so. */
const GATEWAY_OFFSET_MS = 7 * 60 * 60 * 1000;
/** Status codes that are not 200. */
const STATUS_CODES: Partial<Record<TransactionStatus, string>> = {
  pending: '201',
  deny: '202',
  expire: '202',
  failure: '202',
};

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
  key: string,
): string {
  return JSON.stringify(fieldsOf(transaction, status, STATUS_CODES[status] ?? '200', key));
}

/** What the status API answers of a transaction; of an expired one with another code than its notification. */
export function gatewayAnswer(transaction: ChosenTransaction, key: string): GatewayTransaction {
  const { transactionStatus, transactionId, paymentType, fraudStatus } = transaction;
  const statusCode = transactionStatus === 'expire' ? '407' : (STATUS_CODES[transactionStatus] ?? '200');
  const fields = fieldsOf(transaction, transactionStatus, statusCode, key);
  return {
    transactionId,
    transactionStatus,
    statusCode,
    grossAmount: fields.gross_amount,
    paymentType,
    fraudStatus,
    payload: JSON.stringify(fields),
  };
}

function fieldsOf(
  transaction: ChosenTransaction,
  status: TransactionStatus,
  statusCode: string,
  key: string,
) {
  const { orderId, grossAmount, settlementTime, fraudStatus } = transaction;
  const signed = { order_id: orderId, status_code: statusCode, gross_amount: `${grossAmount}.00` };
  return {
    ...transaction.paymentDetails,
    transaction_time: gatewayTime(transaction.transactionTime),
    transaction_status: status,
    transaction_id: transaction.transactionId,
    status_message: 'midtrans payment notification',
    signature_key: signatureOf(signed, key),
    ...(settlementTime !== null && status !== 'pending' && { settlement_time: gatewayTime(settlementTime) }),
    payment_type: transaction.paymentType,
    merchant_id: 'G000000000',
    ...signed,
    ...(fraudStatus !== null && { fraud_status: fraudStatus }),
    expiry_time: gatewayTime(transaction.expiresAt),
    currency: 'IDR',
  };
}
