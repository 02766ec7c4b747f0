import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { map, type Observable } from 'rxjs';

/** The body of every successful answer that has one (interface.md 2.4). */
export interface SuccessEnvelope<T> {
  readonly status: 'success';
  readonly data: T;
}

/** Marks a route whose answer is not the API's JSON: a picture, a page, a probe. */
export const Bare = Reflector.createDecorator<boolean>();

/** Wraps what a handler returns; a handler that returns nothing answers with an empty body. */
@Injectable()
export class SuccessEnvelopeInterceptor implements NestInterceptor {
  constructor(private readonly reflector: Reflector) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (this.reflector.getAllAndOverride(Bare, [context.getHandler(), context.getClass()]))
      return next.handle();
    return next
      .handle()
      .pipe(
        map((data: unknown): SuccessEnvelope<unknown> | undefined =>
          data === undefined ? undefined : { status: 'success', data },
        ),
      );
  }
}
