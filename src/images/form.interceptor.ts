import {
  type CallHandler,
  type ExecutionContext,
  Inject,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import multer, { memoryStorage } from 'multer';
import { promisify } from 'node:util';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { Failure, failures } from '../common/errors/failures.js';
import { errorCode } from '../common/errors/error-info.js';
import { FairQueue } from '../common/fair-queue.js';
import { clientOf } from '../common/http/client.decorator.js';
import { MAX_IMAGES } from './images.service.js';
import { uploadBytes, uploads, uploadsInFlight } from './uploads.metrics.js';

export type FilePart = Pick<Express.Multer.File, 'fieldname' | 'originalname'>;

export interface FormRequest extends Request {
  /** All file parts in the order sent, also those that are not kept. */
  fileParts: FilePart[];
  /** The first `MAX_IMAGES` files of the field `images`. */
  files?: Express.Multer.File[];
}

const KIB = 1024;
const MIB = 1024 * KIB;
/** Memory budget for all forms that are being processed: four small forms or one large form. */
const MEMORY_BYTES = 36 * MIB;
/** Five images of 5 MiB, 50 texts of 64 KiB, and the headers of the parts. nginx has the same limit. */
const MAX_FORM_BYTES = 29 * MIB;
/** Memory of a form in addition to its length: parsing and validation copy its texts. */
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
/** Multer's codes for a form that is too large. LIMIT_FILE_SIZE means a large image, any other code a malformed form. */
const TOO_LARGE = /^LIMIT_(PART_COUNT|FILE_COUNT|FIELD_KEY|FIELD_VALUE|FIELD_COUNT)$/;
/** Outcomes in the metrics, by the status of the failure. */
const OUTCOMES = { 400: 'malformed', 408: 'too_slow', 413: 'too_large' } as const;

const parse = promisify(
  multer({
    storage: memoryStorage(),
    limits: LIMITS,
    defParamCharset: 'utf8',
    // Record every file for the validation messages, but buffer only possible images.
    fileFilter: (request: FormRequest, file, accept) => {
      request.fileParts.push(file);
      const images = request.fileParts.filter(isImagePart);
      accept(null, isImagePart(file) && images.length <= MAX_IMAGES);
    },
  }).any(),
);

export function isImagePart({ fieldname }: FilePart): boolean {
  return fieldname === 'images' || fieldname === 'images[]';
}

/** Token of the idle timeout while a form is being sent. The server's `requestTimeout` limits the whole form. */
export const FORM_IDLE_MS = Symbol('FORM_IDLE_MS');

/** Reads a multipart form into `body` and `files`, after the guards. Any other body counts as an empty form. */
@Injectable()
export class FormInterceptor implements NestInterceptor {
  readonly #queue = new FairQueue(MEMORY_BYTES);

  constructor(@Inject(FORM_IDLE_MS) private readonly idleMs: number) {}

  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FormRequest>();
    const response = context.switchToHttp().getResponse<Response>();
    request.fileParts = [];
    if (!request.is('multipart/form-data')) {
      request.body = {};
      return next.handle();
    }
    if ((request.headers['content-encoding'] ?? 'identity') !== 'identity')
      throw failures.unsupportedEncoding();
    // Chunked requests have no Content-Length, so assume the maximum.
    const length = Number(request.headers['content-length'] ?? Infinity);
    if (length !== Infinity && length > MAX_FORM_BYTES) throw failures.tooLarge();
    const size = Math.min(length + OVERHEAD_BYTES, MEMORY_BYTES);
    const { clientAddress: client, disconnected } = clientOf(request, response);
    const readAndHandle = async (): Promise<unknown> => {
      uploadsInFlight.inc();
      try {
        await this.#read(request, response);
        return await lastValueFrom(next.handle());
      } finally {
        uploadsInFlight.dec();
      }
    };
    return from(this.#queue.run(readAndHandle, { client, disconnected, size }));
  }

  async #read(request: FormRequest, response: Response): Promise<void> {
    try {
      // Multer would wait forever for a form whose client disconnected before the reading started.
      if (response.closed) throw failures.malformedRequest();
      await Promise.race([parse(request, response), this.#rejectOnStandstill(request, response)]);
    } catch (error) {
      const failure = toFailure(error);
      uploads.inc({ outcome: OUTCOMES[failure.status as keyof typeof OUTCOMES] });
      throw failure;
    } finally {
      request.setTimeout(0);
    }
    uploads.inc({ outcome: 'received' });
    uploadBytes.inc((request.files ?? []).reduce((sum, { size }) => sum + size, 0));
  }

  /** Rejects when the client disconnects or sends nothing for `idleMs`. */
  #rejectOnStandstill(request: FormRequest, response: Response): Promise<never> {
    return new Promise((_, reject) => {
      response.once('close', () => {
        reject(failures.malformedRequest());
      });
      request.setTimeout(this.idleMs, () => {
        // Otherwise multer would continue to buffer the form, although its memory is given to other forms.
        request.unpipe();
        // Otherwise the server would parse the rest of the form as the next request.
        response.set('Connection', 'close');
        reject(failures.requestTimeout());
      });
    });
  }
}

/** Only the form can cause an error of the parser, so an unknown error means a malformed form. */
function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const code = errorCode(error) ?? '';
  if (code === 'LIMIT_FILE_SIZE') return failures.imageTooLarge();
  return TOO_LARGE.test(code) ? failures.tooLarge() : failures.malformedRequest();
}
