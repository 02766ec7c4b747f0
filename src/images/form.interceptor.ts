import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import { finalize, type Observable } from 'rxjs';
import { Failure, failures } from '../common/errors.js';
import { uploadBytes, uploads, uploadsInFlight } from '../common/metrics.js';
import { FormQueue } from './form-queue.js';
import { type FormRequest, readForm } from './form-reader.js';

const MIB = 1024 * 1024;
/** Memory budget for all forms that are being processed: four small forms or one large form. */
const MEMORY_BYTES = 36 * MIB;
/** Memory of a form in addition to its length: parsing and validation copy its texts. */
const OVERHEAD_BYTES = 8 * MIB;

/**
 * Reads a multipart form after the guards. Any other body counts as an empty form.
 * @throws Failure 415 for a compressed form; see also `readForm`
 */
@Injectable()
export class FormInterceptor implements NestInterceptor {
  /** Idle timeout while a form is being sent; tests shorten it. The server's `requestTimeout` limits slow clients. */
  idleMs = 15_000;
  readonly #queue = new FormQueue(MEMORY_BYTES);

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
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
    const bytes = Math.min(length + OVERHEAD_BYTES, MEMORY_BYTES);
    await this.#queue.enter(bytes, response);
    uploadsInFlight.inc();
    const leave = (): void => {
      uploadsInFlight.dec();
      this.#queue.leave(bytes);
    };
    try {
      await readForm(request, response, this.idleMs);
    } catch (error) {
      leave();
      uploads.inc({ outcome: toOutcome(error) });
      throw error;
    }
    uploads.inc({ outcome: 'received' });
    uploadBytes.inc((request.files ?? []).reduce((sum, { size }) => sum + size, 0));
    return next.handle().pipe(finalize(leave));
  }
}

function toOutcome(error: unknown): 'too_slow' | 'too_large' | 'malformed' {
  const status = error instanceof Failure ? error.code : undefined;
  return status === 408 ? 'too_slow' : status === 413 ? 'too_large' : 'malformed';
}
