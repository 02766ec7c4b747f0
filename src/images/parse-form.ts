import type { Writable } from 'node:stream';
import { MIMEType, promisify } from 'node:util';
import type { Request, Response } from 'express';
import multer, { memoryStorage } from 'multer';
import { errorCode } from '../common/errors/error-info.js';
import { Failure, failures } from '../common/errors/failures.js';
import { MAX_IMAGE_BYTES, MAX_IMAGES } from './image-host.js';

/** Request of a route with `FormInterceptor`, with its form. A body that is not a form counts as an empty form. */
export interface FormRequest extends Request {
  /** Names of all files in the field `images`, in the order sent. */
  imageNames: string[];
  /** Names of other fields that contain a file, once for each file. */
  misplacedFileFields: string[];
  /** The first `MAX_IMAGES` files of the field `images`. No other files are kept. */
  files?: Express.Multer.File[];
  /** Returns the number of parts that the parser has skipped. Set when the parsing begins. */
  countSkippedParts?: () => number;
}

const KIB = 1024;
const LIMITS = {
  fileSize: MAX_IMAGE_BYTES,
  /** A description of 10,000 characters has 40,000 bytes at most. */
  fieldSize: 64 * KIB,
  fieldNameSize: KIB,
  fields: 50,
  files: 50,
  parts: 100,
  headerPairs: 20,
  /** Names such as `a[b][c]` and `a[999]` would create nested objects and long arrays. */
  fieldNestingDepth: 10,
  fieldArrayIndexLimit: 1000,
};

/** `@types/multer` lacks the option `streamHandler`. */
interface FormOptions extends multer.Options {
  readonly streamHandler: (request: FormRequest, parser: Writable) => void;
}

const OPTIONS: FormOptions = {
  storage: memoryStorage(),
  limits: LIMITS,
  defParamCharset: 'utf8',
  // Otherwise multer would drop a file whose name ends with a slash, such as `photo.png/`, without calling `fileFilter`.
  preservePath: true,
  // Record every file for the validation messages, but buffer only possible images.
  fileFilter: ({ imageNames, misplacedFileFields }: FormRequest, file, accept) => {
    const { fieldname } = file;
    file.originalname = file.originalname.split(/[/\\]/).findLast((part) => part !== '') ?? '';
    const isImage = fieldname === 'images' || fieldname === 'images[]';
    if (isImage) imageNames.push(file.originalname);
    else misplacedFileFields.push(fieldname);
    accept(null, isImage && imageNames.length <= MAX_IMAGES);
  },
  streamHandler: (request, parser) => {
    request.countSkippedParts = watchParts(request, parser);
    request.pipe(parser);
  },
};
const parse = promisify(multer(OPTIONS).any());

/**
 * Reads a multipart form into the properties of `FormRequest`.
 * @throws Failure 413 if the form or a file is too large, 408 if the client sends nothing for `idleMs`, 400 if the form is
 *   malformed or the client disconnects
 */
export async function parseForm(request: FormRequest, response: Response, idleMs: number): Promise<void> {
  // Multer would wait forever for a form whose client disconnected before the reading started.
  if (response.closed) throw failures.malformedRequest();
  try {
    await Promise.race([parse(request, response), rejectWhenIdle(request, response, idleMs)]);
    if (request.countSkippedParts?.() !== 0) throw failures.malformedRequest();
  } catch (error) {
    if (error instanceof Failure) throw error;
    const code = errorCode(error);
    if (code === 'LIMIT_FILE_SIZE') throw failures.imageTooLarge();
    // Only the form can cause an error of the parser, so any other error means a malformed form.
    throw code?.startsWith('LIMIT_') ? failures.tooLarge() : failures.malformedRequest();
  } finally {
    request.setTimeout(0);
  }
}

/**
 * Counts the parts of a multipart form that busboy skips. If busboy cannot parse the header of a part, for example because a
 * file name contains an unescaped quote, busboy emits no event for that part (RFC 7578 section 4.2 describes the header).
 * @returns function that returns the number of skipped parts, after the whole form has been parsed
 */
function watchParts(request: FormRequest, parser: Writable): () => number {
  let skipped = -1; // The closing delimiter begins no part.
  for (const event of ['field', 'file']) parser.on(event, () => (skipped -= 1));
  const { params } = new MIMEType(request.headers['content-type'] ?? '');
  const delimiter = Buffer.from(`\r\n--${params.get('boundary')}`);
  // The first delimiter is at the beginning of the form, without a line break.
  let end = Buffer.from('\r\n');
  request.on('data', (chunk: Buffer) => {
    const bytes = Buffer.concat([end, chunk]);
    let at = -1;
    while ((at = bytes.indexOf(delimiter, at + 1)) >= 0) skipped += 1;
    // A delimiter may begin in this chunk and end in the next one.
    end = bytes.subarray(Math.max(0, bytes.length - delimiter.length + 1));
  });
  return () => skipped;
}

function rejectWhenIdle(request: Request, response: Response, idleMs: number): Promise<never> {
  return new Promise((_, reject) => {
    request.setTimeout(idleMs, () => {
      // Otherwise multer would continue to buffer the form, although its memory is given to other forms.
      request.unpipe();
      // Otherwise the server would parse the rest of the form as the next request.
      response.set('Connection', 'close');
      reject(failures.requestTimeout());
    });
  });
}
