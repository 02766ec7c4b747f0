import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsBoolean, IsOptional } from 'class-validator';
import { OptionalText } from './text.decorator.js';

const BOOLEANS = new Map<unknown, boolean>([
  ['true', true],
  ['false', false],
]);

/** Parses an optional query parameter that is `true` or `false`. */
export function BooleanQuery(description: string): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: Boolean, description }),
    IsOptional(),
    Transform(({ value }: { value: unknown }) => BOOLEANS.get(value) ?? value),
    IsBoolean({ message: '$property should be true or false' }),
  );
}

/** Trims and validates the optional text of a search. A blank text counts as absent. */
export function SearchQuery(description: string): PropertyDecorator {
  return OptionalText({ maxLength: 100, ifBlank: undefined, required: false, description });
}
