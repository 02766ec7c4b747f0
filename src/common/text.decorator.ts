import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { Matches, NotContains } from 'class-validator';

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
export function Text({ required, label, maxLength, trim = true, example }: TextRules): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ type: String, minLength: 1, maxLength, example }),
    Transform(({ value }: { value: unknown }) => (trim && typeof value === 'string' ? value.trim() : value)),
    Matches(/\S/, { message: required }),
    NotContains('\0', { message: `${label} contains a character that is not allowed` }),
    // Not `MaxLength`, which counts some pairs of code units as one.
    Matches(new RegExp(`^.{0,${maxLength}}$`, 's'), {
      message: `${label} can have ${maxLength} characters at max`,
    }),
  );
}
