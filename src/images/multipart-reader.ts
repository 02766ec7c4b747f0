import type { Request, Response } from 'express';
import multer, { MulterError, type Options, type StorageEngine } from 'multer';
import type { Writable } from 'node:stream';
import { failures } from '../common/errors.js';
import type { Content } from './image-host.js';
import { MAX_IMAGES } from './images.service.js';
import { FORM_LIMITS, MAX_FORM_BYTES, MAX_TEXT_BYTES } from './multipart-limits.js';
import type { ReceivedFiles } from './received-files.js';
import { SpoolError } from './spool-file.js';

/** Name of the file parts. */
export const IMAGES_FIELD = 'images';

/** One file part. */
export interface SentFile {
  /** As the client named it; nothing on this side is named after it. */
  readonly name: string;
  /** Null for those that no product could hold. */
  readonly content: Content | null;
}

/** A form as it arrived. */
export interface ReceivedForm {
  readonly fields: unknown;
  /** In the order sent. */
  readonly files: readonly SentFile[];
}

/** What a form is read with; multer only hands on the request. */
interface Reading {
  readonly files: ReceivedFiles;
  readonly fail: (failure: Error) => void;
  count: number;
}

const readings = new WeakMap<object, Reading>();

const storage: StorageEngine = {
  _handleFile: (request, { stream }, done) => {
    const reading = readings.get(request);
    if (reading === undefined) throw new Error('a form is read that nobody asked for');
    // The parser itself only tells once the part is over, which may be never.
    stream.once('limit', () => {
      reading.fail(failures.tooLarge());
    });
    reading.count += 1;
    if (reading.count > MAX_IMAGES) {
      stream.once('end', () => {
        done(null, {});
      });
      stream.resume();
      return;
    }
    reading.files.receive(stream).then(
      (content) => {
        done(null, { content } as object);
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

/** As multer 2.5 has it; its type declaration does not. */
interface StreamHandlerOption {
  readonly streamHandler: (request: Request, parser: Writable) => void;
}

const options: Options & StreamHandlerOption = {
  storage,
  limits: FORM_LIMITS,
  fileFilter: (_request, file, accept) => {
    accept(null, file.fieldname === IMAGES_FIELD || file.fieldname === `${IMAGES_FIELD}[]`);
  },
  streamHandler: (request, parser) => {
    limitTotals(request, parser);
    request.pipe(parser);
  },
};
const readForm = multer(options).any();

/**
 * Reads a multipart/form-data body (RFC 7578) within its limits. Where one is passed the answer need not wait for the
 * rest of the body, which is read and dropped.
 *
 * @throws Failure 413 over a limit, 400 when the form is malformed or cut short; SpoolError
 */
export function readMultipart(
  request: Request,
  response: Response,
  files: ReceivedFiles,
): Promise<ReceivedForm> {
  return new Promise((resolve, reject) => {
    readings.set(request, { files, fail: reject, count: 0 });
    void readForm(request, response, (error: unknown) => {
      if (error === undefined || error === null) resolve(formOf(request));
      else reject(toFailure(error));
    });
  });
}

function formOf(request: Request): ReceivedForm {
  const files = (Array.isArray(request.files) ? request.files : []) as readonly (Express.Multer.File & {
    content?: Content;
  })[];
  return {
    fields: request.body as unknown,
    files: files.map(({ originalname, content }) => ({ name: originalname, content: content ?? null })),
  };
}

/** The parser limits each part, not what they come to. */
function limitTotals(request: Request, parser: Writable): void {
  let textBytes = 0;
  let formBytes = 0;
  const stop = (): void => {
    const failure = failures.tooLarge();
    readings.get(request)?.fail(failure);
    request.unpipe(parser);
    parser.destroy(failure);
  };
  parser.on('field', (name: string | undefined, value: string) => {
    textBytes += Buffer.byteLength(name ?? '') + Buffer.byteLength(value);
    if (textBytes > MAX_TEXT_BYTES) stop();
  });
  request.on('data', (chunk: Buffer) => {
    formBytes += chunk.length;
    if (formBytes > MAX_FORM_BYTES) stop();
  });
}

/** Multer's codes for too much of something; its others mean that the form is not well made. */
const SIZE_LIMITS = /^LIMIT_(PART_COUNT|FILE_SIZE|FILE_COUNT|FIELD_KEY|FIELD_VALUE|FIELD_COUNT)$/;

/** Apart from the spool only the form itself can make reading fail. */
function toFailure(error: unknown): Error {
  if (error instanceof SpoolError) return error;
  return error instanceof MulterError && SIZE_LIMITS.test(error.code)
    ? failures.tooLarge()
    : failures.malformedRequest();
}
