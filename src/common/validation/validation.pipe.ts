import { Injectable, type ArgumentMetadata, type PipeTransform } from '@nestjs/common';
import { plainToInstance, type ClassConstructor } from 'class-transformer';
import { validate, type ValidationError } from 'class-validator';
import { pickKnownFields } from './dto-input.js';
import { failures, type FieldMessages } from '../errors/failures.js';

/** Types that Nest reports for parameters whose type is not a DTO class. */
const NO_DTOS: readonly unknown[] = [undefined, Object, Array, String, Number, Boolean];

/** Builds the DTO of a handler's parameter. Reports all invalid fields at once: 400 `validation error`. */
@Injectable()
export class DtoValidationPipe implements PipeTransform {
  async transform(value: unknown, { metatype }: ArgumentMetadata): Promise<unknown> {
    if (NO_DTOS.includes(metatype)) return value;
    const { value: dto, details } = await checkDto(metatype as ClassConstructor<object>, value);
    if (details !== null) throw failures.validation(details);
    return dto;
  }
}

/** Builds and validates a DTO. Each field reports one message; the decorator next to the property is checked first. */
export async function checkDto<T extends object>(
  dto: ClassConstructor<T>,
  input: unknown,
): Promise<{ value: T; details: FieldMessages | null }> {
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input);
  const value = plainToInstance(dto, isObject ? pickKnownFields(dto, input) : {});
  const errors = await validate(value, {
    whitelist: true,
    forbidUnknownValues: false,
    stopAtFirstError: true,
  });
  return { value, details: errors.length === 0 ? null : collectMessages(errors) };
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
