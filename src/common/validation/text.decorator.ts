import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsOptional, IsString, Matches } from 'class-validator';

export interface TextRules {
  /** Unicode code points, as in PostgreSQL and JSON Schema. */
  readonly maxLength: number;
  /** Name in messages. By default, the name of the property. */
  readonly label?: string;
  /** False for a password, whose spaces count. */
  readonly trim?: boolean;
  /** True rejects line breaks and other control characters, also those that change the direction of text. */
  readonly isSingleLine?: boolean;
  readonly example: string;
}

/** No control character (Cc), line separator (Zl), paragraph separator (Zp) or bidirectional control character. */
const SINGLE_LINE = /^[^\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]*$/u;

/** PostgreSQL cannot store U+0000, UTF-8 cannot encode half of a surrogate pair, and U+FFFD replaces lost characters. */
export const STORABLE = /^[^\0\p{Surrogate}\uFFFD]*$/u;

/** Trims a text unless `trim` is false. Rejects a text that is blank, too long, or cannot be stored unchanged. */
export function Text({
  maxLength,
  label = '$property',
  trim = true,
  isSingleLine = false,
  example,
}: TextRules): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ type: String, minLength: 1, maxLength, example }),
    ...(trim ? [Trim({ ifBlank: '' })] : []),
    Matches(/\S/, { message: `${label} is required` }),
    ...(isSingleLine ? [Matches(SINGLE_LINE, { message: `${label} has invalid characters` })] : []),
    StorableText(maxLength, label),
  );
}

/** Trims, documents and validates a text that may be absent. A blank text becomes null. */
export function OptionalText({
  maxLength,
  ...docs
}: { readonly maxLength: number } & ApiPropertyOptions): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ type: String, maxLength, ...docs }),
    Trim({ ifBlank: null }),
    IsOptional(),
    IsString({ message: '$property should be a text' }),
    StorableText(maxLength, '$property'),
  );
}

function StorableText(maxLength: number, label: string): PropertyDecorator {
  return applyDecorators(
    Matches(STORABLE, { message: `${label} contains a character that is not allowed` }),
    MaxCharacters(maxLength, { message: `${label} can have ${maxLength} characters at max` }),
  );
}

/** Trims, documents and validates a phone number that may be absent. A blank text is rejected. */
export function PhoneNumber(docs: ApiPropertyOptions = {}): PropertyDecorator {
  const pattern = /^[0-9 +\-().]{5,32}$/;
  const rules = { minLength: 5, maxLength: 32, pattern: pattern.source };
  return applyDecorators(
    ApiProperty({ type: String, ...rules, example: '+62 812-3456-7890', ...docs }),
    Trim({ ifBlank: '' }),
    IsOptional(),
    Matches(pattern, { message: '$property should be a phone number' }),
  );
}

/** Trims a text. A text that is blank becomes `ifBlank`. */
export function Trim({ ifBlank }: { readonly ifBlank: '' | null }): PropertyDecorator {
  return Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? value.trim() || ifBlank : value,
  );
}

/** Accepts texts of at most `limit` Unicode code points. class-validator's `MaxLength` does not count variation selectors. */
export function MaxCharacters(limit: number, options: { readonly message: string }): PropertyDecorator {
  return Matches(new RegExp(`^.{0,${limit}}$`, 'su'), options);
}
