import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { IncomingMessage, ServerResponse } from 'node:http';

declare module 'node:http' {
  interface IncomingMessage {
    /** Time of `performance.now()` at which the headers of a request arrived. */
    arrivedAtMs?: number;
  }
}

export function noteArrival(request: IncomingMessage, _response: ServerResponse, next: () => void): void {
  request.arrivedAtMs = performance.now();
  next();
}

/** Seconds since the headers of the request arrived. A duration, because the clocks of machines differ. */
export const RequestAge = createParamDecorator((_: undefined, context: ExecutionContext): number => {
  const { arrivedAtMs = performance.now() } = context.switchToHttp().getRequest<IncomingMessage>();
  return (performance.now() - arrivedAtMs) / 1000;
});
