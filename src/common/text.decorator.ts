import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { Matches } from 'class-validator';

/** What differs between texts. */
export interface TextRules {
  /** In Unicode code points, as PostgreSQL and JSON Schema count. */
  readonly maxLength: number;
  /** Name of the field in its messages, if not the property's own. */
  readonly label?: string;
  /** False for a password, whose spaces count. */
  readonly trim?: boolean;
  readonly example: string;
}

/** PostgreSQL cannot store U+0000, UTF-8 cannot write half of a surrogate pair, and U+FFFD stands for lost characters. */
export const STORABLE = /^[^\0\p{Surrogate}\uFFFD]*$/u;

/** A required text: trimmed, not empty, not too long, of characters that are stored as they were sent. */
export function Text({ maxLength, label = '$property', trim = true, example }: TextRules): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ type: String, minLength: 1, maxLength, example }),
    Transform(({ value }: { value: unknown }) => (trim && typeof value === 'string' ? value.trim() : value)),
    Matches(/\S/, { message: `${label} is required` }),
    Matches(STORABLE, { message: `${label} contains a character that is not allowed` }),
    // Not `MaxLength`, which leaves out variation selectors.
    Matches(new RegExp(`^.{0,${maxLength}}$`, 'su'), {
      message: `${label} can have ${maxLength} characters at max`,
    }),
  );
}
