import {
  type CallHandler,
  type ExecutionContext,
  Inject,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import type { Response } from 'express';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { Failure, failures } from '../common/errors/failures.js';
import { FairQueue } from '../common/fair-queue.js';
import { clientOf } from '../common/http/client.decorator.js';
import { uploadBytes, uploads, uploadsInFlight } from './uploads.metrics.js';
import { type FormRequest, readForm } from './form-reader.js';

const MIB = 1024 * 1024;
/** Memory budget for all forms that are being processed: four small forms or one large form. */
const MEMORY_BYTES = 36 * MIB;
/** Five images of 5 MiB, 50 texts of 64 KiB, and the headers of the parts. nginx has the same limit. */
const MAX_FORM_BYTES = 29 * MIB;
/** Memory of a form in addition to its length: parsing and validation copy its texts. */
const OVERHEAD_BYTES = 8 * MIB;

/** Token of the idle timeout while a form is being sent. The server's `requestTimeout` limits the whole form. */
export const FORM_IDLE_MS = Symbol('FORM_IDLE_MS');

/** Reads a multipart form after the guards. Any other body counts as an empty form. */
@Injectable()
export class FormInterceptor implements NestInterceptor {
  readonly #queue = new FairQueue(MEMORY_BYTES);

  constructor(@Inject(FORM_IDLE_MS) private readonly idleMs: number) {}

  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FormRequest>();
    const response = context.switchToHttp().getResponse<Response>();
    request.fileParts = []; // `readForm` adds every file part; `files` gets only images
    if (!request.is('multipart/form-data')) {
      request.body = {};
      return next.handle();
    }
    if ((request.headers['content-encoding'] ?? 'identity') !== 'identity')
      throw failures.unsupportedEncoding();
    // Chunked requests have no Content-Length, so assume the maximum.
    const length = Number(request.headers['content-length'] ?? Infinity);
    if (length !== Infinity && length > MAX_FORM_BYTES) throw failures.tooLarge();
    const bytes = Math.min(length + OVERHEAD_BYTES, MEMORY_BYTES);
    const { clientAddress, disconnected } = clientOf(request, response);
    const process = async (): Promise<unknown> => {
      uploadsInFlight.inc();
      try {
        await this.#read(request, response);
        return await lastValueFrom(next.handle());
      } finally {
        uploadsInFlight.dec();
      }
    };
    return from(this.#queue.run(process, { client: clientAddress, disconnected, size: bytes }));
  }

  async #read(request: FormRequest, response: Response): Promise<void> {
    try {
      await readForm(request, response, this.idleMs);
    } catch (error) {
      uploads.inc({ outcome: toOutcome(error) });
      throw error;
    }
    uploads.inc({ outcome: 'received' });
    uploadBytes.inc((request.files ?? []).reduce((sum, { size }) => sum + size, 0));
  }
}

function toOutcome(error: unknown): 'too_slow' | 'too_large' | 'malformed' {
  const status = error instanceof Failure ? error.status : undefined;
  return status === 408 ? 'too_slow' : status === 413 ? 'too_large' : 'malformed';
}
