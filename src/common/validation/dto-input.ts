import type { ClassConstructor } from 'class-transformer';
import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import { getMetadataStorage } from 'class-validator';

/** Limits of a copy. No valid input of any DTO has more values or is nested deeper. */
const MAX_VALUES = 800;
const MAX_DEPTH = 5;
/** class-transformer would interpret these keys as a class or a prototype. */
const UNSAFE_KEYS = new Set(['constructor', '__proto__']);

type DtoClass = ClassConstructor<object>;
type Properties = ReadonlyMap<string, DtoClass | undefined>;

const propertiesByDto = new Map<DtoClass, Properties>();

/**
 * Copies the part of an input that a DTO reads, because class-transformer and class-validator would occupy the process for
 * over 100 ms with a body of 100 KiB. An object or list that is nested too deep becomes null. Reads the fields in the order
 * of the DTO, and omits all values after the 800th. The DTO then rejects the input, because a required field is missing or a
 * list is still too long.
 */
export function pickKnownFields(dto: DtoClass, input: object): object {
  let copiedCount = 0;

  function copy(value: unknown, type: DtoClass | undefined, depth: number): unknown {
    copiedCount += 1;
    if (typeof value !== 'object' || value === null) return value;
    if (depth === MAX_DEPTH) return null;
    // Without a class, all fields are copied: such an object, for example the opening hours, is validated as a whole.
    const properties = Array.isArray(value) ? undefined : type && getProperties(type);
    const fields: [string, unknown][] = [];
    for (const key of properties?.keys() ?? Object.keys(value)) {
      if (copiedCount >= MAX_VALUES) break;
      if (!Object.hasOwn(value, key) || UNSAFE_KEYS.has(key)) continue;
      const field = (value as Record<string, unknown>)[key];
      fields.push([key, copy(field, Array.isArray(value) ? type : properties?.get(key), depth + 1)]);
    }
    return Array.isArray(value) ? fields.map(([, item]) => item) : Object.fromEntries(fields);
  }

  return copy(input, dto, 0) as object;
}

/** Returns the names of the validated properties. The value is the class of a nested DTO. */
function getProperties(dto: DtoClass): Properties {
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
