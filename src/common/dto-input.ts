import type { ClassConstructor } from 'class-transformer';
import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import { getMetadataStorage } from 'class-validator';

/** No valid input of any DTO has more values, or is nested deeper. */
const MAX_VALUES = 600;
const MAX_DEPTH = 5;
/** class-transformer would interpret these keys as a class or a prototype. */
const UNSAFE_KEYS = new Set(['constructor', '__proto__']);

type Dto = ClassConstructor<object>;
type Properties = ReadonlyMap<string, Dto | undefined>;

const propertiesByDto = new Map<Dto, Properties>();

/**
 * Copies the part of an input that a DTO reads, because class-transformer and class-validator would occupy the process for
 * over 100 ms with a body of 100 KiB. A list that is cut off here is still longer than its DTO allows, so it is rejected.
 */
export function pickKnownFields(dto: Dto, input: object): object {
  let copied = 0;

  function copy(value: unknown, type: Dto | undefined, depth: number): unknown {
    copied += 1;
    if (typeof value !== 'object' || value === null) return value;
    if (depth === MAX_DEPTH) return null;
    const free = Math.max(0, MAX_VALUES - copied);
    if (Array.isArray(value)) return value.slice(0, free).map((item) => copy(item, type, depth + 1));
    // Without a class, copy all fields: the object is validated as a whole, such as opening hours.
    const properties: Properties | undefined = type && getProperties(type);
    const fields = Object.entries(value).filter(
      ([key]) => (properties?.has(key) ?? true) && !UNSAFE_KEYS.has(key),
    );
    return Object.fromEntries(
      fields.slice(0, free).map(([key, field]) => [key, copy(field, properties?.get(key), depth + 1)]),
    );
  }

  return copy(input, dto, 0) as object;
}

/** Returns the validated properties of a DTO, with the class of nested DTOs. */
function getProperties(dto: Dto): Properties {
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
