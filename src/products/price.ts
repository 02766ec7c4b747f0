import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsNotEmpty, IsString, Matches } from 'class-validator';

/** Range of `numeric(14, 2)`. */
const PRICE = /^\d{1,12}(\.\d{1,2})?$/;
const NUMBER = /^-?\d+(\.\d{1,2})?$/;

/** Rounds a price half up to whole rupiah, as the payment gateway requires, without floating-point errors. */
export function wholeRupiah(price: string): number {
  const [whole = '0', decimals = ''] = price.split('.');
  return Number(whole) + (decimals >= '5' ? 1 : 0);
}

/**
 * Validates a price, which is sent as text so that it stays an exact decimal.
 * @param required message for a missing or empty price
 */
export function Price(required: string): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ type: String, pattern: PRICE.source, example: '185000' }),
    // Leading zeros must not use up the 12 digits.
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' ? value.trim().replace(/^0+(?=\d)/, '') : value,
    ),
    IsString({ message: required }),
    IsNotEmpty({ message: required }),
    Matches(NUMBER, { message: 'price should be a number' }),
    Matches(PRICE, { message: 'price should be from 0 to 999999999999.99' }),
  );
}
