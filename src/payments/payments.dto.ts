import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { isUUID, ValidateBy } from 'class-validator';
import { ORDER_STATUSES, type OrderStatus } from '../orders/order-status.js';
import { parseTransactionTime } from './transaction-time.js';

/** `challenge` is the gateway's third value: a card payment that awaits a decision (decisions.md). */
const FRAUD_STATUSES = ['accept', 'deny', 'challenge'] as const;

/** Of the other examples, by the simulator's server key. */
const EXAMPLE_SIGNATURE =
  '8c2505c46d66c48691a0b18876a31d96a332b03b27d854cf5c8b8f56c5566042' +
  '420ecb43c73ca51f7962c356efa179c959fdfae0e98ebeb52f8d60716fefe713';

interface FieldRules {
  readonly example: string;
  readonly description?: string;
  readonly format?: string;
  readonly maxLength?: number;
  readonly values?: readonly string[];
  readonly is?: (text: string) => boolean;
}

/** A required string, taken exactly as sent: the signature covers it. */
function Field(name: string, rules: FieldRules): PropertyDecorator {
  const { example, description, format, values, maxLength = 255 } = rules;
  const problem = (value: unknown): string | null => {
    if (value === undefined || value === null || value === '') return `${name} is required`;
    if (typeof value !== 'string') return `${name} should be a string`;
    const isGood =
      value.length <= maxLength &&
      !value.includes('\0') &&
      (values === undefined || values.includes(value)) &&
      (rules.is === undefined || rules.is(value));
    return isGood ? null : `${name} is invalid`;
  };
  return applyDecorators(
    ApiProperty({
      type: String,
      example,
      minLength: 1,
      ...(description !== undefined && { description }),
      ...(format !== undefined && { format }),
      ...(values === undefined ? { maxLength } : { enum: [...values] }),
    }),
    ValidateBy({
      name: 'field',
      validator: {
        validate: (value: unknown) => problem(value) === null,
        defaultMessage: (argument) => problem(argument?.value) ?? '',
      },
    }),
  );
}

/** Body of POST /api/products/payments (interface.md 4.9). Further fields are kept with it and not looked at. */
export class PaymentNotificationDto {
  @Field('transaction_time', {
    example: '2026-11-20 17:05:12',
    description: 'ISO 8601, or YYYY-MM-DD HH:MM:SS in GMT+7',
    is: (text) => parseTransactionTime(text) !== null,
  })
  transaction_time!: string;

  @Field('status_code', { example: '200', maxLength: 16 })
  status_code!: string;

  @Field('transaction_status', { example: 'settlement', values: ORDER_STATUSES })
  transaction_status!: OrderStatus;

  @Field('signature_key', {
    example: EXAMPLE_SIGNATURE,
    description: 'SHA-512 of order_id + status_code + gross_amount + server key, in hexadecimal',
  })
  signature_key!: string;

  @Field('gross_amount', { example: '185000.00', maxLength: 32, description: 'Rupiah' })
  gross_amount!: string;

  @Field('order_id', {
    example: '5f0c2a3e-8a55-4c42-9df5-1b7f1a0f7a11',
    format: 'uuid',
    is: (text) => isUUID(text, 'loose'),
  })
  order_id!: string;

  @Field('transaction_id', { example: '9aed5972-5b6a-401e-894b-a32c91ed1a3a' })
  transaction_id!: string;

  @Field('payment_type', { example: 'bank_transfer' })
  payment_type!: string;

  @Field('fraud_status', { example: 'accept', values: FRAUD_STATUSES })
  fraud_status!: string;
}
