import type { FieldMessages } from '../common/errors/failures.js';
import { isCompleted } from '../orders/order-status.js';
import type { PaymentNotificationDto } from './payments.dto.js';

/**
 * Returns messages for fields that contradict a completed payment, or null. The signature covers order_id, status_code and
 * gross_amount without separators. The first two checks detect characters that were moved from one field to another. A capture
 * in review (`challenge`) has the code 201.
 * @param total total of the order in whole rupiah
 */
export function findImplausibleFields(
  { transaction_status, status_code, gross_amount, currency, fraud_status }: PaymentNotificationDto,
  total: number,
): FieldMessages | null {
  if (!isCompleted(transaction_status)) return null;
  const isInReview = transaction_status === 'capture' && fraud_status === 'challenge';
  const hasOwnCode = status_code === '200' || (isInReview && status_code === '201');
  const problems = {
    ...(!hasOwnCode && { status_code: 'status_code is not that of a completed payment' }),
    ...(parseAmount(gross_amount) !== total && { gross_amount: "gross_amount is not the order's total" }),
    ...(currency !== undefined && currency !== 'IDR' && { currency: 'currency should be IDR' }),
  };
  return Object.keys(problems).length === 0 ? null : problems;
}

/** Returns the whole rupiah of a plain decimal, such as `185000.00`; null for leading zeros, a fraction or any other text. */
export function parseAmount(text: unknown): number | null {
  if (typeof text !== 'string' || !/^(0|[1-9]\d*)(\.0+)?$/.test(text)) return null;
  const amount = Number(text);
  return Number.isSafeInteger(amount) ? amount : null;
}
