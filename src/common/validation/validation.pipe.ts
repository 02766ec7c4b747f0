import { applyDecorators, type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { type ClassConstructor, plainToInstance, Type } from 'class-transformer';
import { getMetadataStorage, validate, ValidateNested, type ValidationError } from 'class-validator';
import { failures, type FieldMessages } from '../errors/failures.js';

type DtoClass = ClassConstructor<object>;
type Properties = ReadonlyMap<string, DtoClass | undefined>;

/** Types that Nest reports for parameters whose type is not a DTO class. */
const NON_DTO_TYPES: readonly unknown[] = [undefined, Object, Array, String, Number, Boolean];
/** Limits of a copy. No valid input of any DTO has more values or is nested deeper. */
const MAX_VALUES = 800;
const MAX_DEPTH = 5;
/** class-transformer would take the value of `constructor` for a class. Assigning `__proto__` would change a prototype. */
const UNSAFE_KEYS = new Set(['constructor', '__proto__']);
const ITEM_DTO = 'itemDto';

/** Validates each item of a list as a DTO. */
export function ValidateItems(dto: DtoClass): PropertyDecorator {
  return applyDecorators(
    Reflect.metadata(ITEM_DTO, dto),
    Type(() => dto),
    ValidateNested({ each: true }),
  );
}

/** Builds the DTO of a handler's parameter. Reports all invalid fields at once: 400 `validation error`. */
@Injectable()
export class DtoValidationPipe implements PipeTransform {
  async transform(value: unknown, { metatype }: ArgumentMetadata): Promise<unknown> {
    if (NON_DTO_TYPES.includes(metatype)) return value;
    const { value: dto, details, isCut } = await checkDto(metatype as DtoClass, value);
    if (details !== null) throw failures.validation(details);
    // A cut copy lacks values of the input, so it is never valid. A list is not a DTO without fields.
    if (isCut || Array.isArray(value)) throw failures.malformedRequest();
    return dto;
  }
}

/**
 * Builds and validates a DTO. Each field reports its first rule that fails. The decorators of a property are checked from the
 * bottom to the top, and the rules inside `applyDecorators` from the first to the last.
 * @returns `isCut`: true if the DTO lacks values of the input, because the input has too many
 */
export async function checkDto<T extends object>(
  dtoClass: ClassConstructor<T>,
  input: unknown,
): Promise<{ value: T; details: FieldMessages | null; isCut: boolean }> {
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input);
  // Any input that is not an object counts as an empty object.
  const { fields, isCut } = pickKnownFields(dtoClass, isObject ? input : {});
  const value = plainToInstance(dtoClass, fields);
  const options = { forbidUnknownValues: false, stopAtFirstError: true };
  const errors = await validate(value, options);
  return { value, details: errors.length === 0 ? null : collectMessages(errors), isCut };
}

/**
 * Copies the part of an input that a DTO reads, because class-transformer and class-validator would occupy the process for
 * over 100 ms with a body of 100 KiB. An object or list that is nested too deep becomes null. Stops after `MAX_VALUES`
 * values (`isCut`).
 */
function pickKnownFields(dtoClass: DtoClass, input: object) {
  let copiedCount = 0;

  function copy(value: unknown, type: DtoClass | undefined, depth: number): unknown {
    copiedCount += 1;
    if (typeof value !== 'object' || value === null) return value;
    if (depth === MAX_DEPTH) return null;
    // Without a class, all fields are copied: such an object, for example the opening hours, is validated as a whole.
    const properties = Array.isArray(value) ? undefined : type && getProperties(type);
    const fields: [string, unknown][] = [];
    for (const key of properties?.keys() ?? Object.keys(value)) {
      if (copiedCount > MAX_VALUES) break;
      if (!Object.hasOwn(value, key) || UNSAFE_KEYS.has(key)) continue;
      const field = (value as Record<string, unknown>)[key];
      fields.push([key, copy(field, Array.isArray(value) ? type : properties?.get(key), depth + 1)]);
    }
    return Array.isArray(value) ? fields.map(([, item]) => item) : Object.fromEntries(fields);
  }

  const fields = copy(input, dtoClass, 0) as object;
  return { fields, isCut: copiedCount > MAX_VALUES };
}

const propertiesByDto = new Map<DtoClass, Properties>();

/** Maps each validated property of a DTO to the DTO of its items; undefined for a property without `ValidateItems`. */
function getProperties(dto: DtoClass): Properties {
  const known = propertiesByDto.get(dto);
  if (known !== undefined) return known;
  // No schema, and no validation groups.
  const rules = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
  const names = rules.map(({ propertyName }) => propertyName);
  const findItemDto = (name: string) =>
    Reflect.getMetadata(ITEM_DTO, dto.prototype as object, name) as DtoClass | undefined;
  const properties = new Map(names.map((name) => [name, findItemDto(name)]));
  propertiesByDto.set(dto, properties);
  return properties;
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
