import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { IncomingHttpHeaders } from 'node:http';
import type { Request } from 'express';

/** Injects the headers as a validated DTO, whose properties are their names in lower case; `@Headers()` skips pipes. */
export const RequestHeaders = createParamDecorator(
  (_: undefined, context: ExecutionContext): IncomingHttpHeaders =>
    context.switchToHttp().getRequest<Request>().headers,
);
