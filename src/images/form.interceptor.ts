import {
  HttpException,
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { AnyFilesInterceptor } from '@nestjs/platform-express';
import type { Request, Response } from 'express';
import { memoryStorage, MulterError } from 'multer';
import { finalize, type Observable } from 'rxjs';
import { type Failure, failures } from '../common/errors.js';
import { uploadBytes, uploads, uploadsInFlight } from '../common/metrics.js';
import { FormQueue } from './form-queue.js';
import { MAX_IMAGES } from './images.service.js';

/** A file part of a form as multer describes it; `buffer` only where it was kept. */
export type FilePart = Pick<Express.Multer.File, 'fieldname' | 'originalname'>;

/** A request whose form was read. */
export interface FormRequest extends Request {
  /** Every file part in the order sent. `files` holds those that can be images of one product. */
  fileParts?: FilePart[];
  files?: Express.Multer.File[];
}

const KIB = 1024;
const MIB = 1024 * KIB;
/** What forms in memory may take together. */
const MEMORY_BYTES = 36 * MIB;
/** What a form takes besides its bytes: its texts are copied as they are parsed and validated. */
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
/** Multer's codes for too much of something; its others say that the form is malformed. */
const TOO_MUCH = /^LIMIT_(PART_COUNT|FILE_COUNT|FIELD_KEY|FIELD_VALUE|FIELD_COUNT)$/;

const FilesInterceptor = AnyFilesInterceptor({
  storage: memoryStorage(),
  limits: LIMITS,
  defParamCharset: 'utf8',
  // A file that no product can hold is named and not kept.
  fileFilter: (request: FormRequest, file, accept) => {
    request.fileParts?.push(file);
    const images = request.fileParts?.filter(isImagePart).length ?? 0;
    accept(null, isImagePart(file) && images <= MAX_IMAGES);
  },
});

/**
 * Reads a form with files after the guards: four small forms at a time, or one of the largest. Any other body counts as an
 * empty form.
 * @throws Failure 413 over a limit, 415 for a compressed form, 400 when it is malformed or cut short
 */
@Injectable()
export class FormInterceptor implements NestInterceptor {
  readonly #files = new FilesInterceptor();
  readonly #queue = new FormQueue(MEMORY_BYTES);

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<FormRequest>();
    const response = context.switchToHttp().getResponse<Response>();
    request.fileParts = [];
    // `is` answers null to a request without a body.
    if (typeof request.is('multipart/form-data') !== 'string') {
      request.body = {};
      return next.handle();
    }
    if ((request.headers['content-encoding'] ?? 'identity') !== 'identity')
      throw failures.unsupportedEncoding();
    const bytes = memoryOf(request);
    await this.#queue.enter(bytes, response);
    uploadsInFlight.inc();
    try {
      const answer = await this.#files.intercept(context, next);
      uploads.inc({ outcome: 'received' });
      uploadBytes.inc((request.files ?? []).reduce((sum, { size }) => sum + size, 0));
      return answer.pipe(
        finalize(() => {
          this.#leave(bytes);
        }),
      );
    } catch (error) {
      this.#leave(bytes);
      const failure = toFailure(error);
      uploads.inc({ outcome: failure.code === 413 ? 'too_large' : 'malformed' });
      throw failure;
    }
  }

  #leave(bytes: number): void {
    uploadsInFlight.dec();
    this.#queue.leave(bytes);
  }
}

/** Whether a file part stands in the field of the images. */
export function isImagePart({ fieldname }: FilePart): boolean {
  return fieldname === 'images' || fieldname === 'images[]';
}

/** What a form takes in memory at most; a chunked one does not say how long it is. */
function memoryOf({ headers }: FormRequest): number {
  return Math.min(Number(headers['content-length'] ?? Infinity) + OVERHEAD_BYTES, MEMORY_BYTES);
}

/** Nest keeps multer's error as the cause of its own. Only the form itself can make reading fail. */
function toFailure(error: unknown): Failure {
  const { cause } = error instanceof HttpException ? error : {};
  const code = cause instanceof MulterError ? cause.code : '';
  if (code === 'LIMIT_FILE_SIZE') return failures.imageTooLarge();
  return TOO_MUCH.test(code) ? failures.tooLarge() : failures.malformedRequest();
}
