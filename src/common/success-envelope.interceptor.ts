import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { map, type Observable } from 'rxjs';

/** The body of every successful answer that has one (contract 2.4). */
export interface SuccessEnvelope<T> {
  readonly status: 'success';
  readonly data: T;
}

/** Wraps what a handler returns; a handler that returns nothing answers with an empty body. */
@Injectable()
export class SuccessEnvelopeInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next
      .handle()
      .pipe(
        map((data: unknown): SuccessEnvelope<unknown> | undefined =>
          data === undefined ? undefined : { status: 'success', data },
        ),
      );
  }
}
