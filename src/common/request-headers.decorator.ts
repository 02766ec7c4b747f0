import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { IncomingHttpHeaders } from 'node:http';
import type { Request } from 'express';

/**
 * Injects the request's headers as a DTO, validated like bodies and queries. Nest's own `@Headers()` skips the pipes.
 * The DTO's properties are header names in lower case: `@RequestHeaders() headers: IdempotencyHeaders`.
 */
export const RequestHeaders = createParamDecorator(
  (_: undefined, context: ExecutionContext): IncomingHttpHeaders =>
    context.switchToHttp().getRequest<Request>().headers,
);
