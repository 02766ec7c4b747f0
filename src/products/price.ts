import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsNotEmpty, IsString, Matches } from 'class-validator';

/** 0 or more, below 10^12, at most two decimals: exactly what `numeric(14, 2)` holds. */
const PRICE = /^\d{1,12}(\.\d{1,2})?$/;
const NUMBER = /^-?\d+(\.\d{1,2})?$/;

/** A price rounded half up to whole rupiah, which is what the payment gateway takes; exact. */
export function wholeRupiah(price: string): number {
  const [whole = '0', decimals = ''] = price.split('.');
  return Number(whole) + (decimals >= '5' ? 1 : 0);
}

/**
 * A price sent as text; the DTO holds the exact decimal.
 * @param required message for a missing or empty one
 */
export function Price(required: string): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ type: String, pattern: PRICE.source, example: '185000' }),
    // Zeros in front say nothing and must not use up the digits.
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' ? value.trim().replace(/^0+(?=\d)/, '') : value,
    ),
    IsString({ message: required }),
    IsNotEmpty({ message: required }),
    Matches(NUMBER, { message: 'price should be a number' }),
    Matches(PRICE, { message: 'price should be from 0 to 999999999999.99' }),
  );
}
