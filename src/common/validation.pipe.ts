import { Injectable, type ArgumentMetadata, type PipeTransform } from '@nestjs/common';
import { plainToInstance, type ClassConstructor } from 'class-transformer';
import { validate, type ValidationError } from 'class-validator';
import { failures, type FieldMessages } from './errors.js';

/** What TypeScript writes down for parameters without a class of their own. */
const NO_DTOS: readonly unknown[] = [undefined, Object, Array, String, Number, Boolean];

/** Builds the DTO of a body, a query or headers and reports every failing field at once: 400 `validation error`. */
@Injectable()
export class DtoValidationPipe implements PipeTransform {
  async transform(value: unknown, { metatype }: ArgumentMetadata): Promise<unknown> {
    if (NO_DTOS.includes(metatype)) return value;
    const { value: dto, details } = await checkDto(metatype as ClassConstructor<object>, value);
    if (details !== null) throw failures.validation(details);
    return dto;
  }
}

/**
 * The same check for a caller that does more than refuse a bad input. Unknown fields are dropped. An input that is no
 * object counts as an empty one. Of several rules of a field the one next to the property is checked first, and only the
 * first message is reported.
 */
export async function checkDto<T extends object>(
  dto: ClassConstructor<T>,
  input: unknown,
): Promise<{ value: T; details: FieldMessages | null }> {
  const isObject = typeof input === 'object' && !Array.isArray(input);
  const value = plainToInstance(dto, isObject ? (withoutPrototypes(input) ?? {}) : {});
  const errors = await validate(value, {
    whitelist: true,
    forbidUnknownValues: false,
    stopAtFirstError: true,
  });
  return { value, details: errors.length === 0 ? null : fieldMessages(errors) };
}

/** Deeper than any DTO reads: a field of an object in a list of a body is at 3. */
const MAX_DEPTH = 5;
/** class-transformer takes what stands under these for a class, or for the prototype of one. */
const UNSAFE_KEYS = new Set(['constructor', '__proto__']);

/** Copies a value for class-transformer, which calls what stands under `constructor` and recurses without a limit. */
function withoutPrototypes(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.map((entry) => withoutPrototypes(entry, depth + 1));
  const entries = Object.entries(value).filter(([key]) => !UNSAFE_KEYS.has(key));
  return Object.fromEntries(entries.map(([key, entry]) => [key, withoutPrototypes(entry, depth + 1)]));
}

/** One message a field. A nested field is named by its path, `items.0.quantity`. */
function fieldMessages(errors: readonly ValidationError[], path = ''): FieldMessages {
  const messages: Record<string, string> = {};
  for (const { property, constraints, children } of errors) {
    const [message] = Object.values(constraints ?? {});
    if (message !== undefined) messages[path + property] = message;
    Object.assign(messages, fieldMessages(children ?? [], `${path}${property}.`));
  }
  return messages;
}
