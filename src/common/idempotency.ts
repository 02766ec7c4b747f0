import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { Request } from 'express';

export const ApiIdempotencyKey = (): MethodDecorator =>
  ApiHeader({
    name: 'Idempotency-Key',
    required: false,
    description:
      'Key that the client chooses, such as a UUID. A repeated request with the same key gets the first result.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  });

export const IDEMPOTENCY_KEY_MESSAGE = 'Idempotency-Key should have 1 to 255 characters';

/** Injects the body together with the header, so that the DTO reports all failing fields at once. */
export const IdempotentBody = createParamDecorator((_: undefined, context: ExecutionContext) => {
  const { body, headers } = context.switchToHttp().getRequest<Request<object, unknown, object>>();
  return { ...body, 'idempotency-key': headers['idempotency-key'] };
});
