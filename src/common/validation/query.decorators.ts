import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsBoolean, IsInt, IsOptional } from 'class-validator';
import { MAX_ID } from './whole-number.js';
import { OptionalText } from './text.decorator.js';

export const LAST_ID_NOT_A_NUMBER = 'last_id should be a number';

/**
 * Parses the id after which a page begins. Rounds a number down, and limits it to the range from 0 to MAX_ID. The property needs an
 * initial value, because a missing id is not parsed.
 */
export function LastIdQuery(description: string): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: Number, description }),
    Transform(({ value }: { value: unknown }) => parseLastId(value)),
    IsInt({ message: LAST_ID_NOT_A_NUMBER }),
  );
}

function parseLastId(text: unknown): number | null {
  if (typeof text !== 'string' || !/^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text.trim())) return null;
  return Math.floor(Math.min(Math.max(Number(text), 0), MAX_ID));
}

/** Parses an optional query parameter that is `true` or `false`. */
export function BooleanQuery(description: string): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: Boolean, description }),
    IsOptional(),
    Transform(({ value }: { value: unknown }) => parseBoolean(value)),
    IsBoolean({ message: '$property should be true or false' }),
  );
}

function parseBoolean(text: unknown): unknown {
  if (text === 'true') return true;
  return text === 'false' ? false : text;
}

/** Trims and validates the optional text of a search. A blank text counts as absent. */
export function SearchQuery(description: string): PropertyDecorator {
  return applyDecorators(
    Transform(({ value }: { value: unknown }) => value ?? undefined), // runs after that of `OptionalText`
    OptionalText({ maxLength: 100, required: false, description }),
  );
}
