import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsBoolean, IsOptional, IsString, Matches, MaxLength } from 'class-validator';

const MAX_LENGTH = 100;

/** Parses an optional query parameter that is `true` or `false`. */
export function BooleanQuery(description: string): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: Boolean, description }),
    IsOptional(),
    Transform(({ value }: { value: unknown }) =>
      value === 'true' ? true : value === 'false' ? false : value,
    ),
    IsBoolean({ message: '$property should be true or false' }),
  );
}

/** Trims and validates the optional query parameter `q`. An empty text counts as absent. Rejects U+0000, like PostgreSQL. */
export function SearchQuery(description: string): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: String, maxLength: MAX_LENGTH, description }),
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' ? value.trim() || undefined : value,
    ),
    IsOptional(),
    IsString({ message: 'q should be a text' }),
    MaxLength(MAX_LENGTH, { message: `q can have ${MAX_LENGTH} characters at max` }),
    Matches(/^[^\0]*$/, { message: 'q contains a character that is not allowed' }),
  );
}

/** Returns a LIKE pattern for values that contain the text. Escapes wildcards in the text. */
export function toLikePattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
}
