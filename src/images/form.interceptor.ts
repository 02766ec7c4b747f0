import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { Request, Response } from 'express';
import multer, { memoryStorage, MulterError } from 'multer';
import { promisify } from 'node:util';
import { finalize, type Observable } from 'rxjs';
import { Failure, failures } from '../common/errors.js';
import { uploadBytes, uploads, uploadsInFlight } from '../common/metrics.js';
import { FormTimeouts } from './form-timeouts.js';
import { FormQueue } from './form-queue.js';
import { MAX_IMAGES } from './images.service.js';

/** Name of a file part and of its field. */
export type FilePart = Pick<Express.Multer.File, 'fieldname' | 'originalname'>;

/** Request whose form has been read. */
export interface FormRequest extends Request {
  /** All file parts in the order sent. `files` contains only the parts that can be images of one product. */
  fileParts?: FilePart[];
  files?: Express.Multer.File[];
}

const KIB = 1024;
const MIB = 1024 * KIB;
/** Memory budget for all forms that are being processed. */
const MEMORY_BYTES = 36 * MIB;
/** Additional memory of a form: parsing and validation copy its texts. */
const OVERHEAD_BYTES = 8 * MIB;
const LIMITS = {
  fileSize: 5 * MIB,
  /** A description of 10,000 characters has 40,000 bytes at most. */
  fieldSize: 64 * KIB,
  fieldNameSize: KIB,
  fields: 50,
  files: 20,
  parts: 70,
  headerPairs: 20,
  fieldNestingDepth: 10,
  fieldArrayIndexLimit: 1000,
};
/** Multer's codes for exceeded limits. Its other codes mean that the form is malformed. */
const TOO_MUCH = /^LIMIT_(PART_COUNT|FILE_COUNT|FIELD_KEY|FIELD_VALUE|FIELD_COUNT)$/;

/** Outcomes of forms that were not read, for the metric. */
const OUTCOMES: Readonly<Record<number, 'too_large' | 'too_slow'>> = { 408: 'too_slow', 413: 'too_large' };

/** Reads a form into `body` and `files`. */
const readForm = promisify(
  multer({
    storage: memoryStorage(),
    limits: LIMITS,
    defParamCharset: 'utf8',
    // Record every file for the validation messages, but buffer only possible images.
    fileFilter: (request: FormRequest, file, accept) => {
      request.fileParts?.push(file);
      const images = request.fileParts?.filter(isImagePart).length ?? 0;
      accept(null, isImagePart(file) && images <= MAX_IMAGES);
    },
  }).any(),
);

/**
 * Reads a form with files after the guards: four small forms or one large form at a time. Any other body counts as an
 * empty form.
 * @throws Failure 413 over a limit, 415 for a compressed form, 400 if the form is malformed or incomplete, 408 if the
 *   client sends nothing for 15 seconds
 */
@Injectable()
export class FormInterceptor implements NestInterceptor {
  readonly #queue = new FormQueue(MEMORY_BYTES);

  constructor(private readonly timeouts: FormTimeouts) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<FormRequest>();
    const response = context.switchToHttp().getResponse<Response>();
    request.fileParts = [];
    // `is` returns null for a request without a body.
    if (typeof request.is('multipart/form-data') !== 'string') {
      request.body = {};
      return next.handle();
    }
    if ((request.headers['content-encoding'] ?? 'identity') !== 'identity')
      throw failures.unsupportedEncoding();
    const bytes = estimateMemory(request);
    await this.#queue.enter(bytes, response);
    uploadsInFlight.inc();
    try {
      await this.timeouts.readWhileSent(request, response, () => readForm(request, response));
      uploads.inc({ outcome: 'received' });
      uploadBytes.inc((request.files ?? []).reduce((sum, { size }) => sum + size, 0));
      return next.handle().pipe(
        finalize(() => {
          this.#leave(bytes);
        }),
      );
    } catch (error) {
      this.#leave(bytes);
      const failure = toFailure(error);
      uploads.inc({ outcome: OUTCOMES[failure.code] ?? 'malformed' });
      throw failure;
    }
  }

  #leave(bytes: number): void {
    uploadsInFlight.dec();
    this.#queue.leave(bytes);
  }
}

/** Returns true if a file part belongs to the field `images`. */
export function isImagePart({ fieldname }: FilePart): boolean {
  return fieldname === 'images' || fieldname === 'images[]';
}

/** Estimates the memory of a form. Chunked requests have no Content-Length, so assume the maximum. */
function estimateMemory({ headers }: FormRequest): number {
  return Math.min(Number(headers['content-length'] ?? Infinity) + OVERHEAD_BYTES, MEMORY_BYTES);
}

/** Converts an error of the parser. Only the form can cause an error, so unknown errors mean a malformed form. */
function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const code = error instanceof MulterError ? error.code : '';
  if (code === 'LIMIT_FILE_SIZE') return failures.imageTooLarge();
  return TOO_MUCH.test(code) ? failures.tooLarge() : failures.malformedRequest();
}
