import { applyDecorators } from '@nestjs/common';
import { ApiHideProperty, ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import {
  Allow,
  IsIn,
  IsISO8601,
  IsNotEmpty,
  IsString,
  IsUUID,
  Matches,
  MaxLength,
  type ValidationOptions,
} from 'class-validator';
import { STORABLE } from '../common/text.decorator.js';
import { ORDER_STATUSES, type OrderStatus } from '../orders/order-status.js';

/** `challenge` is not documented: the gateway sends it for a card payment that awaits a decision. */
const FRAUD_STATUSES = ['accept', 'deny', 'challenge'] as const;

/** Signature of the other examples with the simulator's server key. */
const EXAMPLE_SIGNATURE =
  '8c2505c46d66c48691a0b18876a31d96a332b03b27d854cf5c8b8f56c5566042' +
  '420ecb43c73ca51f7962c356efa179c959fdfae0e98ebeb52f8d60716fefe713';

/** Declares a required text. It is not trimmed, because the signature covers the text as sent. */
function Field(
  name: string,
  docs: ApiPropertyOptions & { readonly example: string; readonly maxLength?: number },
  rule?: (options: ValidationOptions) => PropertyDecorator,
): PropertyDecorator {
  const { maxLength = 255 } = docs;
  const invalid = { message: `${name} is invalid` };
  return applyDecorators(
    ApiProperty({ type: String, ...(docs.enum === undefined && { minLength: 1, maxLength }), ...docs }),
    IsNotEmpty({ message: `${name} is required` }),
    IsString({ message: `${name} should be a string` }),
    MaxLength(maxLength, invalid),
    Matches(STORABLE, invalid),
    ...(rule === undefined ? [] : [rule(invalid)]),
  );
}

/** Body of POST /api/products/payments (contract 4.9). Further fields are stored and not read. */
export class PaymentNotificationDto {
  @Field(
    'transaction_time',
    { example: '2026-11-20 17:05:12', description: 'ISO 8601, or YYYY-MM-DD HH:MM:SS in GMT+7' },
    // Also accepts the gateway's own format, which has a space instead of the T.
    (options) => IsISO8601({ strict: true }, options),
  )
  transaction_time!: string;

  @Field('status_code', { example: '200', pattern: '^[0-9]{3}$' }, (options) => Matches(/^\d{3}$/, options))
  status_code!: string;

  @Field('transaction_status', { example: 'settlement', enum: ORDER_STATUSES }, (options) =>
    IsIn(ORDER_STATUSES, options),
  )
  transaction_status!: OrderStatus;

  @Field('signature_key', {
    example: EXAMPLE_SIGNATURE,
    description: 'SHA-512 of order_id + status_code + gross_amount + server key, in hexadecimal',
  })
  signature_key!: string;

  @Field('gross_amount', { example: '185000.00', maxLength: 32, description: 'Rupiah' })
  gross_amount!: string;

  @Field('order_id', { example: '5f0c2a3e-8a55-4c42-9df5-1b7f1a0f7a11', format: 'uuid' }, (options) =>
    IsUUID('loose', options),
  )
  order_id!: string;

  @Field('transaction_id', { example: '9aed5972-5b6a-401e-894b-a32c91ed1a3a' })
  transaction_id!: string;

  @Field('payment_type', { example: 'bank_transfer' })
  payment_type!: string;

  @Field('fraud_status', { example: 'accept', enum: FRAUD_STATUSES }, (options) =>
    IsIn(FRAUD_STATUSES, options),
  )
  fraud_status!: string;

  /** Optional at the gateway and not part of the documented interface. Checked for completed payments. */
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
