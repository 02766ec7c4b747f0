import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ValidateBy } from 'class-validator';

/** The rules of a text field and what the client reads when one is broken. */
export interface TextRules {
  /** Missing, empty after trimming, or no text at all. */
  readonly required: string;
  /** Name of the field in the other messages. */
  readonly label: string;
  /** Longest, in UTF-16 code units. */
  readonly maxLength: number;
  /** False for a password, whose spaces count; it is still judged "not empty" without them. */
  readonly trim?: boolean;
  readonly example?: string;
}

/** A required text: trimmed, not empty, not too long, without U+0000, which PostgreSQL cannot store. */
export function Text(rules: TextRules): PropertyDecorator {
  return applyDecorators(
    ApiProperty({
      type: String,
      minLength: 1,
      maxLength: rules.maxLength,
      ...(rules.example !== undefined && { example: rules.example }),
    }),
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' && rules.trim !== false ? value.trim() : value,
    ),
    ValidateBy({
      name: 'text',
      validator: {
        validate: (value: unknown) => problemOf(value, rules) === null,
        defaultMessage: (argument) => problemOf(argument?.value, rules) ?? '',
      },
    }),
  );
}

function problemOf(value: unknown, rules: TextRules): string | null {
  if (typeof value !== 'string' || value.trim() === '') return rules.required;
  if (value.includes('\0')) return `${rules.label} contains a character that is not allowed`;
  if (value.length > rules.maxLength) return `${rules.label} can have ${rules.maxLength} characters at max`;
  return null;
}
