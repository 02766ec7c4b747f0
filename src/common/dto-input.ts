import type { ClassConstructor } from 'class-transformer';
import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import { getMetadataStorage } from 'class-validator';

/** No valid input of any DTO has more values, or is nested deeper. */
const MAX_VALUES = 600;
const MAX_DEPTH = 5;
/** class-transformer would interpret these keys as a class or a prototype. */
const UNSAFE_KEYS = new Set(['constructor', '__proto__']);

type Dto = ClassConstructor<object>;

const propertiesByDto = new Map<Dto, ReadonlyMap<string, Dto | undefined>>();

/**
 * Copies the part of an input that a DTO reads, because class-transformer and class-validator would occupy the process for
 * over 100 ms with a body of 100 KiB. A list that is cut off here is longer than its DTO allows.
 */
export function pickKnownFields(dto: Dto, input: object): object {
  let values = 0;

  function copy(value: unknown, type: Dto | undefined, depth: number): unknown {
    values += 1;
    if (typeof value !== 'object' || value === null) return value;
    if (depth === MAX_DEPTH) return null;
    return Array.isArray(value) ? copyList(value, type, depth) : copyFields(value, type, depth);
  }

  function copyList(source: readonly unknown[], type: Dto | undefined, depth: number): unknown[] {
    const list: unknown[] = [];
    for (let index = 0; index < source.length && values < MAX_VALUES; index += 1)
      list.push(copy(source[index], type, depth + 1));
    return list;
  }

  /** Without a class, copies all fields: the object is validated as a whole, such as opening hours. */
  function copyFields(source: object, type: Dto | undefined, depth: number): object {
    const properties = type && getProperties(type);
    const fields: [string, unknown][] = [];
    for (const key of properties?.keys() ?? Object.keys(source)) {
      if (values >= MAX_VALUES) break;
      if (Object.hasOwn(source, key) && !UNSAFE_KEYS.has(key))
        fields.push([key, copy((source as Record<string, unknown>)[key], properties?.get(key), depth + 1)]);
    }
    return Object.fromEntries(fields);
  }

  return copyFields(input, dto, 0);
}

/** Returns the validated properties of a DTO, with the class of nested DTOs. */
function getProperties(dto: Dto): ReadonlyMap<string, Dto | undefined> {
  let properties = propertiesByDto.get(dto);
  if (properties === undefined) {
    const validated = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
    properties = new Map(
      validated.map(({ propertyName }) => [
        propertyName,
        defaultMetadataStorage.findTypeMetadata(dto, propertyName)?.typeFunction(),
      ]),
    );
    propertiesByDto.set(dto, properties);
  }
  return properties;
}
