import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { IsInt, Max, Min } from 'class-validator';

export const MAX_ID = 2_147_483_647;

/** Returns true for a possible id. PostgreSQL rejects a parameter above MAX_ID with an error. */
export function isId(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= MAX_ID;
}

interface WholeNumberRules {
  readonly min: number;
  readonly max?: number;
  /** By default, the message names the range. */
  readonly message?: string;
}

/** Documents and validates a whole number. */
export function WholeNumber({
  min,
  max = Number.MAX_SAFE_INTEGER,
  message,
  ...docs
}: WholeNumberRules & ApiPropertyOptions): PropertyDecorator {
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`;
  const rule = { message: message ?? `$property should be a whole number ${range}` };
  return applyDecorators(
    ApiProperty({ type: 'integer', minimum: min, maximum: max, ...docs }),
    IsInt(rule),
    Min(min, rule),
    Max(max, rule),
  );
}
