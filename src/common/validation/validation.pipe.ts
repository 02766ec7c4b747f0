import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { type ClassConstructor, plainToInstance } from 'class-transformer';
import { getMetadataStorage, validate, type ValidationError } from 'class-validator';
import { failures, type FieldMessages } from '../errors/failures.js';

/** Types that Nest reports for parameters whose type is not a DTO class. */
const NON_DTO_TYPES: readonly unknown[] = [undefined, Object, Array, String, Number, Boolean];
/** Limits of a field. No valid field of any DTO has more values or is nested deeper. */
const MAX_VALUES = 400;
const MAX_DEPTH = 5;

/** Builds the DTO of a handler's parameter. Reports all invalid fields at once: 400 `validation error`. */
@Injectable()
export class DtoValidationPipe implements PipeTransform {
  async transform(value: unknown, { metatype }: ArgumentMetadata): Promise<unknown> {
    if (NON_DTO_TYPES.includes(metatype)) return value;
    const { value: dto, details } = await checkDto(metatype as ClassConstructor<object>, value);
    if (details !== null) throw failures.validation(details);
    // A list is not a DTO without fields.
    if (Array.isArray(value)) throw failures.malformedRequest();
    return dto;
  }
}

/**
 * Builds and validates a DTO. Each field reports its first rule that fails. The decorators of a property are checked from the
 * bottom to the top, and the rules inside `applyDecorators` from the first to the last.
 */
export async function checkDto<T extends object>(
  dtoClass: ClassConstructor<T>,
  input: unknown,
): Promise<{ value: T; details: FieldMessages | null }> {
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input);
  // Any input that is not an object counts as an empty object.
  const value = plainToInstance(dtoClass, pickKnownFields(dtoClass, isObject ? input : {}));
  const errors = await validate(value, { forbidUnknownValues: false, stopAtFirstError: true });
  return { value, details: errors.length === 0 ? null : collectMessages(errors) };
}

/**
 * Picks the fields of an input that a DTO validates. A field beyond the limits becomes `{}`, which no rule accepts: class-transformer
 * and class-validator would occupy the process for over 100 ms with a field of 100 KiB.
 */
function pickKnownFields(dtoClass: ClassConstructor<object>, input: object): object {
  // No schema, and no validation groups.
  const rules = getMetadataStorage().getTargetValidationMetadatas(dtoClass, '', false, false);
  const names = new Set(rules.map(({ propertyName }) => propertyName));
  const known = Object.entries(input).filter(([name]) => names.has(name));
  return Object.fromEntries(
    known.map(([name, value]: [string, unknown]) => [name, countValues(value) > MAX_VALUES ? {} : value]),
  );
}

/** Counts the values in a field; Infinity if the field is nested too deep, or has a key that class-transformer takes for a class. */
function countValues(value: unknown, depth = 0): number {
  if (typeof value !== 'object' || value === null) return 1;
  if (depth === MAX_DEPTH || Object.hasOwn(value, 'constructor')) return Infinity;
  return Object.values(value).reduce((count: number, item) => count + countValues(item, depth + 1), 1);
}

/** Collects messages by field. The key of a nested field is its path: `items.0.quantity`. */
function collectMessages(errors: readonly ValidationError[], path = ''): FieldMessages {
  const messages: Record<string, string> = {};
  for (const { property, constraints, children } of errors) {
    const [message] = Object.values(constraints ?? {});
    if (message !== undefined) messages[path + property] = message;
    Object.assign(messages, collectMessages(children ?? [], `${path}${property}.`));
  }
  return messages;
}
