import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { finalize, type Observable } from 'rxjs';

/**
 * Counts the requests that are being worked at. A caller that hangs up takes its connection away, but what it asked
 * for goes on: a stop that looked at connections alone would close the database under it. Stands outermost, so that
 * what the other interceptors do counts as well; the guards before it ask nobody.
 */
@Injectable()
export class RunningRequests implements NestInterceptor {
  #count = 0;

  get count(): number {
    return this.#count;
  }

  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    this.#count += 1;
    return next.handle().pipe(
      finalize(() => {
        this.#count -= 1;
      }),
    );
  }
}
