import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import { lastValueFrom, type Observable, of } from 'rxjs';
import { Failure, failures } from '../common/errors/failures.js';
import { FairQueue } from '../common/fair-queue.js';
import { identifyClient, toTurn } from '../common/http/client.decorator.js';
import { type FormRequest, parseForm } from './parse-form.js';
import { formImageBytes, formOutcomes, formsInFlight } from './forms.metrics.js';

const MIB = 1024 * 1024;
/** Five images of 5 MiB, 50 texts of 64 KiB, and the headers of the parts. nginx has the same limit. */
export const MAX_FORM_BYTES = 29 * MIB;
/** Memory of a form in addition to its length: parsing and validation copy its texts. */
const OVERHEAD_BYTES = 8 * MIB;
/** Memory budget for all forms that are being processed: one form of the maximum length, or four small forms. */
const MEMORY_BYTES = MAX_FORM_BYTES + OVERHEAD_BYTES;

/**
 * Reads a multipart form into the request, after the guards. Any other body counts as an empty form. Nest creates one instance
 * for each module that uses the interceptor. Use it in one module only, because all forms must share one memory budget.
 */
@Injectable()
export class FormInterceptor implements NestInterceptor {
  /** A form waits in this queue until enough of the budget is free. */
  readonly queue = new FairQueue({ capacity: MEMORY_BYTES });
  /** Idle timeout while a form is being sent. The server's `requestTimeout` limits the whole form. */
  readonly idleMs: number = 15_000;

  /** Waits for the memory of the form, and reserves that memory until the handler has ended. */
  async intercept(context: ExecutionContext, next: CallHandler<unknown>): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<FormRequest>();
    const response = context.switchToHttp().getResponse<Response>();
    Object.assign(request, { body: {}, imageNames: [], misplacedFileFields: [] });
    if (!request.is('multipart/form-data')) return next.handle();
    const size = estimateMemory(request);
    const task = async () => {
      formsInFlight.inc();
      try {
        await this.#read(request, response);
        return of(await lastValueFrom(next.handle()));
      } finally {
        formsInFlight.dec();
      }
    };
    return this.queue.run(task, { ...toTurn(identifyClient(request, response)), size });
  }

  async #read(request: FormRequest, response: Response): Promise<void> {
    try {
      await parseForm(request, response, this.idleMs);
    } catch (error) {
      formOutcomes.inc({ outcome: toOutcome(error) });
      throw error;
    }
    formOutcomes.inc({ outcome: 'received' });
    formImageBytes.inc((request.files ?? []).reduce((sum, { size }) => sum + size, 0));
  }
}

/**
 * Estimates the memory of a form. Also counts a form that exceeds the limit, because such a form is never read.
 * @throws Failure 415 for a compressed form, 413 for a form that exceeds the limit
 */
function estimateMemory({ headers }: FormRequest): number {
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') throw failures.unsupportedEncoding();
  // A chunked request does not say its length, so assume the maximum.
  const length = Number(headers['content-length'] ?? MAX_FORM_BYTES);
  if (length > MAX_FORM_BYTES) {
    formOutcomes.inc({ outcome: 'too_large' });
    throw failures.tooLarge();
  }
  return length + OVERHEAD_BYTES;
}

function toOutcome(error: unknown) {
  const status = error instanceof Failure ? error.status : 400;
  if (status === 408) return 'too_slow';
  return status === 413 ? 'too_large' : 'malformed';
}
