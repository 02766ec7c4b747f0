import { applyDecorators, createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiHideProperty } from '@nestjs/swagger';
import { IsOptional, Length } from 'class-validator';
import type { Request } from 'express';
import { failures } from '../errors/failures.js';

/** Documents the header and the body that `IdempotentBody` injects. */
export function ApiIdempotent(body: Type<IdempotentRequest>): MethodDecorator {
  const header = ApiHeader({
    name: 'Idempotency-Key',
    required: false,
    description:
      'Key that the client chooses, such as a UUID. A repeated request with the same key and body creates no ' +
      'second order or refund, and returns the order as it is now. Another body gets 409.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  });
  return applyDecorators(header, ApiBody({ type: body }));
}

export abstract class IdempotentRequest {
  @ApiHideProperty()
  @IsOptional()
  @Length(1, 255, { message: 'Idempotency-Key should have 1 to 255 characters' })
  'idempotency-key'?: string;
}

/** Injects the body together with the header, so that the DTO reports all failing fields at once. */
export const IdempotentBody = createParamDecorator((_: undefined, context: ExecutionContext) => {
  const { body, headers } = context.switchToHttp().getRequest<Request<object, unknown, object | undefined>>();
  const isSent = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  // Express has parsed no body, because its content type is not JSON. Without its fields, a refund would return all money.
  if (body === undefined && isSent) throw failures.malformedRequest();
  // Add the key to the body itself: a copy would turn a list into an object without fields, which would refund all money.
  return Object.assign(body ?? {}, { 'idempotency-key': headers['idempotency-key'] });
});
