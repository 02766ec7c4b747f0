import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { Matches, NotContains } from 'class-validator';

/** What differs between texts. */
export interface TextRules {
  /** In UTF-16 code units. */
  readonly maxLength: number;
  /** Name of the field in its messages, if not the property's own. */
  readonly label?: string;
  /** False for a password, whose spaces count. */
  readonly trim?: boolean;
  readonly example: string;
}

/** A required text: trimmed, not empty, not too long, without U+0000, which PostgreSQL cannot store. */
export function Text({ maxLength, label = '$property', trim = true, example }: TextRules): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ type: String, minLength: 1, maxLength, example }),
    Transform(({ value }: { value: unknown }) => (trim && typeof value === 'string' ? value.trim() : value)),
    Matches(/\S/, { message: `${label} is required` }),
    NotContains('\0', { message: `${label} contains a character that is not allowed` }),
    // Not `MaxLength`, which counts some pairs of code units as one.
    Matches(new RegExp(`^.{0,${maxLength}}$`, 's'), {
      message: `${label} can have ${maxLength} characters at max`,
    }),
  );
}
