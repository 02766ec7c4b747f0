import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { IsInt, Max, Min } from 'class-validator';

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
