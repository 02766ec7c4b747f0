import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { map, type Observable } from 'rxjs';

/**
 * Wraps the result of a handler in the success envelope (contract 2.4). Without a result, the body is empty. A text is sent
 * unchanged: a page of HTML, or a body that already has its envelope.
 */
@Injectable()
export class SuccessEnvelopeInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next
      .handle()
      .pipe(
        map((data: unknown) =>
          data === undefined || typeof data === 'string' ? data : { status: 'success', data },
        ),
      );
  }
}
