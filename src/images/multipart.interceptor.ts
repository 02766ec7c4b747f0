import {
  Injectable,
  Logger,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { finalize, type Observable } from 'rxjs';
import { Failure, failures } from '../common/errors.js';
import { uploadBytes, uploads, uploadsInFlight } from '../common/metrics.js';
import { MAX_FORM_BYTES } from './multipart-limits.js';
import { readMultipart, type ReceivedForm } from './multipart-reader.js';
import type { ReceivedFiles } from './received-files.js';
import { SpoolError } from './spool-file.js';
import { UploadSpool } from './upload-spool.js';

/** A request whose form was read, or could not be kept. */
export interface FormRequest extends Request {
  form?: ReceivedForm | SpoolError;
}

const EMPTY: ReceivedForm = { fields: {}, files: [] };

/**
 * Reads a form after the guards and gives its files back once the request is answered. Anything else than a form
 * counts as an empty one. File parts other than `images` are dropped, as unknown fields are.
 *
 * @throws Failure 413 over a limit, 415 for a compressed form, 400 when it is malformed or cut short
 */
@Injectable()
export class MultipartInterceptor implements NestInterceptor {
  readonly #logger = new Logger('Uploads');

  constructor(private readonly spool: UploadSpool) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<FormRequest>();
    const response = context.switchToHttp().getResponse<Response>();
    if (!request.is('multipart/form-data')) {
      request.form = EMPTY;
      return next.handle();
    }
    const files = this.spool.begin();
    uploadsInFlight.inc();
    const end = (outcome: 'received' | 'too_large' | 'malformed' | 'not_kept', bytes = 0): void => {
      uploadsInFlight.dec();
      uploads.inc({ outcome });
      uploadBytes.inc(bytes);
      this.#giveBack(files);
    };
    try {
      refuseUnread(request);
      request.form = await readMultipart(request, response, files);
    } catch (error) {
      if (!(error instanceof SpoolError)) {
        end(error instanceof Failure && error.code === 413 ? 'too_large' : 'malformed');
        throw error;
      }
      request.form = error;
    }
    const { form } = request;
    return next.handle().pipe(
      finalize(() => {
        if (form instanceof SpoolError) end('not_kept');
        else end('received', sizeOf(form));
      }),
    );
  }

  #giveBack(files: ReceivedFiles): void {
    files.close().catch((error: unknown) => {
      this.#logger.warn('the space of an upload could not be given back', error);
    });
  }
}

/** Bytes of a form's files. */
function sizeOf({ files }: ReceivedForm): number {
  return files.reduce((bytes, { content }) => bytes + (content?.size ?? 0), 0);
}

/** What can be told from the headers alone. */
function refuseUnread(request: Request): void {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') throw failures.unsupportedEncoding();
  if (lengthOf(request) > MAX_FORM_BYTES) throw failures.tooLarge();
}

/** As declared, in bytes; 0 where it is not. */
function lengthOf({ headers }: Request): number {
  return Number(headers['content-length'] ?? 0);
}
