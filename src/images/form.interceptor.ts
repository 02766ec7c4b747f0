import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import { Counter, Gauge } from 'prom-client';
import { lastValueFrom, type Observable, of } from 'rxjs';
import { Failure, failures } from '../common/errors/failures.js';
import { FairQueue } from '../common/fair-queue.js';
import { identifyClient, toTurn } from '../common/http/client.decorator.js';
import { createCounter } from '../common/observability/metrics.js';
import { type FormRequest, parseForm } from './parse-form.js';

const MIB = 1024 * 1024;
/** Five images of 5 MiB, 50 texts of 64 KiB, and the headers of the parts. nginx has the same limit. */
export const MAX_FORM_BYTES = 29 * MIB;
/** Memory of a form in addition to its length: parsing and validation copy its texts. */
const OVERHEAD_BYTES = 8 * MIB;

const formOutcomes = createCounter(
  'bakery_uploads_total',
  'Multipart forms by outcome of reading',
  'outcome',
  ['received', 'too_large', 'too_slow', 'malformed'],
);

const formImageBytes = new Counter({
  name: 'bakery_upload_bytes_total',
  help: 'Bytes of images in received forms',
});

const formsInFlight = new Gauge({
  name: 'bakery_uploads_in_flight',
  help: 'Multipart forms that are being read or handled, without those that wait',
});

/** Reads a multipart form into the request, after the guards. Any other body counts as an empty form. */
@Injectable()
export class FormInterceptor implements NestInterceptor {
  /**
   * A form waits until enough memory is free: that of one form of the maximum length, or of four small forms. Nest creates one
   * interceptor for all routes of the products.
   */
  readonly queue = new FairQueue({ capacity: MAX_FORM_BYTES + OVERHEAD_BYTES });

  /** Idle timeout while a form is being sent. The server's `requestTimeout` limits the whole form. */
  readonly idleMs: number = 15_000;

  /** Waits for the memory of the form, and reserves that memory until the handler has ended. */
  async intercept(context: ExecutionContext, next: CallHandler<unknown>): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<FormRequest>();
    const response = context.switchToHttp().getResponse<Response>();
    Object.assign(request, { body: {}, imageNames: [], misplacedFileFields: [] });
    if (!request.is('multipart/form-data')) return next.handle();
    const length = readLength(request);
    const task = async () => {
      formsInFlight.inc();
      try {
        await this.#read(request, response);
        return of(await lastValueFrom(next.handle()));
      } finally {
        formsInFlight.dec();
      }
    };
    const turn = toTurn(identifyClient(request, response));
    return this.queue.run(task, { ...turn, size: length + OVERHEAD_BYTES });
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
 * Returns the length of a form. Rejects and counts a form that exceeds the limit, because such a form is never read.
 * @throws Failure 415 for a compressed form, 413 for a form that exceeds the limit
 */
function readLength({ headers }: FormRequest): number {
  const encoding = (headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding !== 'identity') throw failures.unsupportedEncoding();
  // A chunked request does not say its length, so assume the maximum.
  const length = Number(headers['content-length'] ?? MAX_FORM_BYTES);
  if (length > MAX_FORM_BYTES) {
    formOutcomes.inc({ outcome: 'too_large' });
    throw failures.tooLarge();
  }
  return length;
}

function toOutcome(error: unknown) {
  const status = error instanceof Failure ? error.status : 400;
  if (status === 408) return 'too_slow';
  return status === 413 ? 'too_large' : 'malformed';
}
