import { gatewayTime } from '../midtrans.messages.js';
import type { GatewayTransaction, TransactionStatus } from '../payment-gateway.js';
import { signatureOf } from '../signature.js';
import type { ChosenTransaction } from './simulator-transaction.entity.js';

/** Status codes that are not 200. */
const STATUS_CODES: Partial<Record<TransactionStatus, string>> = {
  pending: '201',
  deny: '202',
  expire: '202',
  failure: '202',
};

/**
 * A notification, in the gateway's field order and with the fields that it adds to the documented ones.
 *
 * @param status the transaction's own, or an earlier one that is told late
 * @see https://docs.midtrans.com/docs/https-notification-webhooks
 */
export function notificationOf(
  transaction: ChosenTransaction,
  status: TransactionStatus,
  key: string,
  statusCode = STATUS_CODES[status] ?? '200',
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

/** What the status API answers of a transaction; of an expired one with another code than its notification. */
export function statusAnswerOf(transaction: ChosenTransaction, key: string): GatewayTransaction {
  const { transactionStatus, transactionId, paymentType, fraudStatus } = transaction;
  const statusCode = transactionStatus === 'expire' ? '407' : undefined;
  const answer = notificationOf(transaction, transactionStatus, key, statusCode);
  return {
    transactionId,
    transactionStatus,
    statusCode: answer.status_code,
    grossAmount: answer.gross_amount,
    paymentType,
    fraudStatus,
    payload: JSON.stringify(answer),
  };
}
