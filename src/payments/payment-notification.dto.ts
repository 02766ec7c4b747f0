import { applyDecorators } from '@nestjs/common';
import { ApiHideProperty, ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Allow, IsIn, IsISO8601, IsNotEmpty, IsString, IsUUID, Matches } from 'class-validator';
import type { FieldMessages } from '../common/errors/failures.js';
import { parseRupiah } from '../common/rupiah.js';
import { MaxCharacters, STORABLE } from '../common/validation/text.decorator.js';
import { TRANSACTION_STATUSES, type TransactionStatus } from '../gateway/payment-gateway.js';
import { isCompleted } from '../orders/order-status.js';

/** The gateway sends `challenge` for a card payment that awaits a decision about fraud. */
const FRAUD_STATUSES = ['accept', 'deny', 'challenge'] as const;

/** Signature of the example values below, made with the simulator's server key. */
const EXAMPLE_SIGNATURE =
  '8c2505c46d66c48691a0b18876a31d96a332b03b27d854cf5c8b8f56c5566042' +
  '420ecb43c73ca51f7962c356efa179c959fdfae0e98ebeb52f8d60716fefe713';

const INVALID = { message: '$property is invalid' };

/** Declares a required text. The text is not trimmed, because the signature covers the text as sent. */
function RequiredText(
  docs: ApiPropertyOptions & { readonly example: string },
  ...rules: readonly PropertyDecorator[]
): PropertyDecorator {
  const { maxLength = 255 } = docs;
  return applyDecorators(
    ApiProperty({ type: String, ...(docs.enum === undefined && { minLength: 1, maxLength }), ...docs }),
    IsNotEmpty({ message: '$property is required' }),
    IsString({ message: '$property should be a string' }),
    MaxCharacters(maxLength, INVALID),
    Matches(STORABLE, INVALID),
    ...rules,
  );
}

/** Body of POST /api/products/payments (contract 4.9). Further fields are stored and not read. */
export class PaymentNotificationDto {
  @RequiredText(
    { example: '2026-11-20 17:05:12', description: 'ISO 8601, or YYYY-MM-DD HH:MM:SS in GMT+7' },
    // Also accepts the gateway's own format, which has a space instead of the T.
    IsISO8601({ strict: true }, INVALID),
  )
  transaction_time!: string;

  @RequiredText({ example: '200', pattern: '^[0-9]{3}$' }, Matches(/^\d{3}$/, INVALID))
  status_code!: string;

  @RequiredText({ example: 'settlement', enum: TRANSACTION_STATUSES }, IsIn(TRANSACTION_STATUSES, INVALID))
  transaction_status!: TransactionStatus;

  @RequiredText({
    example: EXAMPLE_SIGNATURE,
    description: 'SHA-512 of order_id + status_code + gross_amount + server key, in hexadecimal',
  })
  signature_key!: string;

  @RequiredText({ example: '185000.00', maxLength: 32, description: 'Rupiah' })
  gross_amount!: string;

  @RequiredText({ example: '5f0c2a3e-8a55-4c42-9df5-1b7f1a0f7a11', format: 'uuid' }, IsUUID('loose', INVALID))
  order_id!: string;

  @RequiredText({ example: '9aed5972-5b6a-401e-894b-a32c91ed1a3a' })
  transaction_id!: string;

  @RequiredText({ example: 'bank_transfer' })
  payment_type!: string;

  @RequiredText({ example: 'accept', enum: FRAUD_STATUSES }, IsIn(FRAUD_STATUSES, INVALID))
  fraud_status!: string;

  /** Not part of the documented interface. Checked for completed payments. */
  @ApiHideProperty()
  @Allow()
  currency?: unknown;

  /**
   * Sum of all refunds of the transaction. The gateway sends it with most refund notifications.
   * @see https://docs.midtrans.com/reference/refund-transaction (sample of a notification with two refunds)
   */
  @ApiHideProperty()
  @Allow()
  refund_amount?: unknown;
}

/**
 * Returns messages for fields that contradict a completed payment. The signature covers order_id, status_code and
 * gross_amount without separators. The first two checks detect characters that were moved from one field to another.
 * @param total total of the order in whole rupiah
 */
export function findImplausibleFields(
  { transaction_status, status_code, gross_amount, currency, fraud_status }: PaymentNotificationDto,
  total: number,
): FieldMessages {
  if (!isCompleted(transaction_status)) return {};
  const isInReview = transaction_status === 'capture' && fraud_status === 'challenge';
  // The gateway sends 201 with a capture in review.
  const isCodePlausible = status_code === '200' || (isInReview && status_code === '201');
  return {
    ...(!isCodePlausible && { status_code: 'status_code is not that of a completed payment' }),
    ...(parseRupiah(gross_amount) !== total && { gross_amount: "gross_amount is not the order's total" }),
    ...(currency !== undefined && currency !== 'IDR' && { currency: 'currency should be IDR' }),
  };
}
