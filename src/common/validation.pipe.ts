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
 * Builds the DTO of a body or a query and reports every failing field at once. Unknown fields are dropped
 * (decisions.md, Answers); a body that is no object counts as an empty one, so that each field says what it misses.
 */
@Injectable()
export class DtoValidationPipe extends ValidationPipe {
  constructor() {
    super({
      ...OPTIONS,
      transform: true,
      exceptionFactory: (errors) => failures.validation(fieldMessages(errors)),
    });
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const isWholeInput =
      (metadata.type === 'body' || metadata.type === 'query') && metadata.data === undefined;
    return (await super.transform(isWholeInput ? recordOf(value) : value, metadata)) as unknown;
  }
}

/** The same check for a caller that has more to do with a bad input than to refuse it. */
export async function checkDto<T extends object>(
  dto: ClassConstructor<T>,
  input: unknown,
): Promise<{ value: T; details: FieldMessages | null }> {
  const value = plainToInstance(dto, recordOf(input));
  const errors = await validate(value, OPTIONS);
  return { value, details: errors.length === 0 ? null : fieldMessages(errors) };
}

/** Whether a parsed JSON value is an object, and no list. */
export function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function recordOf(value: unknown): object {
  const copy = inert(value);
  return isPlainObject(copy) ? copy : {};
}

/** Deeper than any DTO reads: a field of an object in a list of a body is at 3. */
const MAX_DEPTH = 5;
/** What class-transformer takes for a class, or for the prototype of one. */
const UNSAFE_KEYS = new Set(['constructor', '__proto__']);

/**
 * A copy that class-transformer can walk, whatever a client sent: it calls what it finds under `constructor`, and
 * its recursion has no bound, so that 50,000 nested brackets would overflow the stack.
 */
function inert(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.map((entry) => inert(entry, depth + 1));
  const entries = Object.entries(value).filter(([key]) => !UNSAFE_KEYS.has(key));
  return Object.fromEntries(entries.map(([key, entry]) => [key, inert(entry, depth + 1)]));
}

/** What class-validator says of a property, and of those beneath it. */
interface PropertyProblem {
  readonly property: string;
  readonly constraints?: Readonly<Record<string, string>> | undefined;
  readonly children?: readonly PropertyProblem[] | undefined;
}

/** One message a field; a nested field is named by its path, `items.0.quantity`. */
function fieldMessages(errors: readonly PropertyProblem[], path = ''): FieldMessages {
  const messages: Record<string, string> = {};
  for (const { property, constraints, children } of errors) {
    const [message] = Object.values(constraints ?? {});
    if (message !== undefined) messages[path + property] = message;
    Object.assign(messages, fieldMessages(children ?? [], `${path}${property}.`));
  }
  return messages;
}
