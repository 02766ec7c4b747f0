import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ValidateBy } from 'class-validator';

/** 0 or more, below 10^12, at most two decimals: exactly what `numeric(14, 2)` holds. */
const PRICE = /^\d{1,12}(\.\d{1,2})?$/;
const NUMBER = /^-?\d+(\.\d{1,2})?$/;
const LONGEST_TEXT = 64;

/**
 * Reads a price in rupiah as a form sends it.
 * @returns the decimal in its shortest form, exact; null when the text is no price
 */
function parsePrice(text: string): string | null {
  const decimal = decimalOf(text);
  return text.trim().length <= LONGEST_TEXT && PRICE.test(decimal) ? decimal : null;
}

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
  const problem = (value: unknown): string | null => {
    if (typeof value !== 'string' || value.trim() === '') return required;
    if (parsePrice(value) !== null) return null;
    return NUMBER.test(decimalOf(value))
      ? 'price should be from 0 to 999999999999.99'
      : 'price should be a number';
  };
  return applyDecorators(
    ApiProperty({ type: String, pattern: '^\\d{1,12}(\\.\\d{1,2})?$', example: '185000' }),
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' ? (parsePrice(value) ?? value) : value,
    ),
    ValidateBy({
      name: 'price',
      validator: {
        validate: (value: unknown) => problem(value) === null,
        defaultMessage: (argument) => problem(argument?.value) ?? '',
      },
    }),
  );
}

/** Without space around it and without zeros in front, which say nothing and must not use up the digits. */
function decimalOf(text: string): string {
  return text.trim().replace(/^0+(?=\d)/, '');
}
