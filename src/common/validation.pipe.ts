import { Injectable, ValidationPipe, type ArgumentMetadata } from '@nestjs/common';
import { plainToInstance, type ClassConstructor } from 'class-transformer';
import { validate, type ValidatorOptions } from 'class-validator';
import { failures, type FieldMessages } from './errors.js';

const OPTIONS = {
  whitelist: true,
  forbidUnknownValues: false,
  stopAtFirstError: true,
} as const satisfies ValidatorOptions;

/**
 * Builds the DTO of a body, a query or headers (`@RequestHeaders()`) and reports every failing field at once: 400
 * `validation error`. Unknown fields are dropped. An input that is no object counts as an empty one, so that each
 * required field is reported. Of several rules of a field the one next to the property is checked first, and only the
 * first message is reported.
 */
@Injectable()
export class DtoValidationPipe extends ValidationPipe {
  constructor() {
    super({
      ...OPTIONS,
      transform: true,
      // For `@RequestHeaders()`. Parameters whose type is an interface are left alone.
      validateCustomDecorators: true,
      exceptionFactory: (errors) => failures.validation(fieldMessages(errors)),
    });
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const isDto = metadata.metatype !== undefined && this.toValidate(metadata);
    return (await super.transform(isDto ? plainFields(value) : value, metadata)) as unknown;
  }
}

/** The same check for a caller that does more with a bad input than refuse it. */
export async function checkDto<T extends object>(
  dto: ClassConstructor<T>,
  input: unknown,
): Promise<{ value: T; details: FieldMessages | null }> {
  const value = plainToInstance(dto, plainFields(input));
  const errors = await validate(value, OPTIONS);
  return { value, details: errors.length === 0 ? null : fieldMessages(errors) };
}

/** Whether a parsed JSON value is an object, and no list. */
function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function plainFields(input: unknown): object {
  const copy = withoutPrototypes(input);
  return isPlainObject(copy) ? copy : {};
}

/** Deeper than any DTO reads: a field of an object in a list of a body is at 3. */
const MAX_DEPTH = 5;
/** class-transformer takes what stands under these for a class, or for the prototype of one. */
const UNSAFE_KEYS = new Set(['constructor', '__proto__']);

/**
 * Copies a value so that class-transformer can walk through it: it calls what stands under `constructor`, and its
 * recursion has no limit, so that 50,000 nested brackets would overflow the stack.
 */
function withoutPrototypes(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.map((entry) => withoutPrototypes(entry, depth + 1));
  const entries = Object.entries(value).filter(([key]) => !UNSAFE_KEYS.has(key));
  return Object.fromEntries(entries.map(([key, entry]) => [key, withoutPrototypes(entry, depth + 1)]));
}

/** What class-validator says about a property and those beneath it. */
interface PropertyProblem {
  readonly property: string;
  readonly constraints?: Readonly<Record<string, string>> | undefined;
  readonly children?: readonly PropertyProblem[] | undefined;
}

/** One message a field. A nested field is named by its path, `items.0.quantity`. */
function fieldMessages(errors: readonly PropertyProblem[], path = ''): FieldMessages {
  const messages: Record<string, string> = {};
  for (const { property, constraints, children } of errors) {
    const [message] = Object.values(constraints ?? {});
    if (message !== undefined) messages[path + property] = message;
    Object.assign(messages, fieldMessages(children ?? [], `${path}${property}.`));
  }
  return messages;
}
