import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { Request, Response } from 'express';
import multer, { MulterError, type StorageEngine } from 'multer';
import { buffer } from 'node:stream/consumers';
import type { Observable } from 'rxjs';
import { failures } from '../common/errors.js';
import { MAX_IMAGES } from './images.service.js';

const KIB = 1024;

/** Limits of one form (decisions.md, Answers); a description of 10,000 characters fits a field. */
const LIMITS = {
  fileSize: 5 * KIB * KIB,
  fieldSize: 64 * KIB,
  fieldNameSize: KIB,
  fields: 200,
  files: 50,
  parts: 250,
  headerPairs: 20,
  fieldNestingDepth: 10,
  fieldArrayIndexLimit: 1000,
} as const satisfies multer.Options['limits'];

/** Name of the file parts. */
export const IMAGES_FIELD = 'images';

/** Sent files, kept in memory only as far as a product can hold them: nothing is written that a crash would leave. */
const storage: StorageEngine = {
  _handleFile: (request, file, done) => {
    const received = ((request as MultipartRequest).receivedFiles ?? 0) + 1;
    (request as MultipartRequest).receivedFiles = received;
    if (received > MAX_IMAGES) {
      file.stream.on('end', () => {
        done(null, { size: 0 });
      });
      file.stream.resume();
      return;
    }
    buffer(file.stream).then(
      (bytes) => {
        done(null, { buffer: bytes, size: bytes.length });
      },
      (error: unknown) => {
        done(error);
      },
    );
  },
  _removeFile: (_request, _file, done) => {
    done(null);
  },
};

const readForm = multer({
  storage,
  limits: LIMITS,
  fileFilter: (_request, file, accept) => {
    accept(null, file.fieldname === IMAGES_FIELD || file.fieldname === `${IMAGES_FIELD}[]`);
  },
}).any();

/** Multer's codes for too much of something; its others mean that the form is not well made. */
const SIZE_LIMITS = /^LIMIT_(PART_COUNT|FILE_SIZE|FILE_COUNT|FIELD_KEY|FIELD_VALUE|FIELD_COUNT)$/;

interface MultipartRequest extends Request {
  receivedFiles?: number;
}

/**
 * Reads a multipart/form-data body (RFC 7578) within its limits, after the guards. Anything else than a form
 * counts as an empty one. File parts other than `images` are dropped, as unknown fields are.
 *
 * @throws Failure 413 over a limit, 400 when the form is malformed or cut short
 */
@Injectable()
export class MultipartInterceptor implements NestInterceptor {
  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<Request>();
    const response = context.switchToHttp().getResponse<Response>();
    if (request.is('multipart/form-data') === false) request.body = {};
    else await read(request, response);
    return next.handle();
  }
}

function read(request: Request, response: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    void readForm(request, response, (error: unknown) => {
      if (error === undefined || error === null) resolve();
      else reject(toFailure(error));
    });
  });
}

/** Only the form itself can make reading fail: nothing is stored on the way. */
function toFailure(error: unknown): Error {
  return error instanceof MulterError && SIZE_LIMITS.test(error.code)
    ? failures.tooLarge()
    : failures.malformedRequest();
}
