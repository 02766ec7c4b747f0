import { createParamDecorator, type ExecutionContext, type PipeTransform } from '@nestjs/common';
import type { ClassConstructor } from 'class-transformer';
import { extname } from 'node:path';
import { type FieldMessages, failures } from '../common/errors.js';
import { checkDto } from '../common/validation.pipe.js';
import { type FilePart, type FormRequest, isImagePart } from './form.interceptor.js';
import type { ImageFile } from './image-host.js';
import { MAX_IMAGES } from './images.service.js';

/** The texts with which one route refuses a form. */
export interface ImageFormMessages {
  /** The envelope's message. */
  readonly failure: string;
  /** Neither .png, .jpg nor .jpeg. */
  readonly extension: string;
  /** More files than a product can have; without it, that is the envelope's message. */
  readonly tooMany?: string;
}

const EXTENSIONS = ['.png', '.jpg', '.jpeg'];
const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const JPEG = Buffer.from('ffd8ff', 'hex');

/**
 * Injects the form that `FormInterceptor` read; give it an `ImageFormPipe`. The parameter's type is `Readonly<...Dto>`:
 * of a plain class the global pipe would take the request for the DTO.
 */
export const Form = createParamDecorator((_: undefined, context: ExecutionContext): FormRequest =>
  context.switchToHttp().getRequest<FormRequest>(),
);

/** Builds the DTO of a form with images and reports every failing field and file together. */
export class ImageFormPipe<T extends { images: readonly ImageFile[] }> implements PipeTransform<
  FormRequest,
  Promise<T>
> {
  constructor(
    private readonly dto: ClassConstructor<T>,
    private readonly messages: ImageFormMessages,
  ) {}

  /** @throws Failure 400 */
  async transform({ body, files = [], fileParts = [] }: FormRequest): Promise<T> {
    const { value, details } = await checkDto(this.dto, body);
    const sent = fileParts.filter(isImagePart);
    const badFile = this.#badFile(sent, files);
    const misplaced = fileParts.filter((part) => !isImagePart(part));
    // Not by assignment: a field may be named `__proto__`.
    const problems = Object.fromEntries([
      ...Object.entries(details ?? {}),
      ...misplaced.map(({ fieldname }) => [fieldname, 'files belong in the field images']),
      ...(badFile === undefined ? [] : [['images', badFile]]),
    ]) as FieldMessages;
    if (Object.keys(problems).length > 0) throw failures.validation(problems, this.messages.failure);
    if (sent.length > MAX_IMAGES) throw failures.tooManyImages();
    value.images = files.map(({ buffer }) => ({ bytes: buffer, format: formatOf(buffer) ?? 'png' }));
    return value;
  }

  /** What the client reads of its files if one cannot be taken. */
  #badFile(sent: readonly FilePart[], files: readonly Express.Multer.File[]): string | undefined {
    const { extension, tooMany } = this.messages;
    if (!sent.every(({ originalname }) => EXTENSIONS.includes(extname(originalname).toLowerCase())))
      return extension;
    const noPicture = files.find(({ buffer }) => formatOf(buffer) === null);
    if (noPicture !== undefined) return `${noPicture.originalname} is not a png or jpg file`;
    return sent.length > MAX_IMAGES ? tooMany : undefined;
  }
}

/** What a file is by its first bytes; null if neither PNG nor JPEG. */
function formatOf(bytes: Buffer): ImageFile['format'] | null {
  if (bytes.subarray(0, PNG.length).equals(PNG)) return 'png';
  return bytes.subarray(0, JPEG.length).equals(JPEG) ? 'jpg' : null;
}
