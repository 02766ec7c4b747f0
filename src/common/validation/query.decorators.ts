import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsBoolean, IsOptional, IsString, Matches } from 'class-validator';
import { STORABLE } from './text.decorator.js';

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

/** Trims and validates an optional query parameter that is searched for. An empty text counts as absent. */
export function SearchQuery(description: string): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: String, maxLength: 100, description }),
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' ? value.trim() || undefined : value,
    ),
    IsOptional(),
    IsString({ message: '$property should be a text' }),
    // `MaxLength` does not count variation selectors.
    Matches(/^.{0,100}$/su, { message: '$property can have 100 characters at max' }),
    Matches(STORABLE, { message: '$property contains a character that is not allowed' }),
  );
}
