import { createParamDecorator, type ExecutionContext, type PipeTransform } from '@nestjs/common';
import type { ClassConstructor } from 'class-transformer';
import { extname } from 'node:path';
import { type FieldMessages, failures } from '../common/errors/failures.js';
import { checkDto } from '../common/validation/validation.pipe.js';
import { type FilePart, type FormRequest, isImagePart } from './form.interceptor.js';
import type { ImageFile } from './image-host.js';
import { MAX_IMAGES } from './images.service.js';

/**
 * Text fields and images of a form. This is an interface because the global ValidationPipe would also validate a parameter
 * whose type is a class.
 */
export interface ImageForm<T> {
  readonly fields: Omit<T, 'images'>;
  /** In the order sent, at most 5. */
  readonly images: readonly ImageFile[];
}

/** Messages with which one route rejects a form. */
interface ImageFormMessages {
  readonly failure: string;
  /** Message for a file that is neither .png, .jpg nor .jpeg. */
  readonly extension: string;
  /** Field message for too many files. If unset, the form fails with `failures.tooManyImages()`. */
  readonly tooMany?: string;
}

const EXTENSIONS = ['.png', '.jpg', '.jpeg'];
const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const JPEG = Buffer.from('ffd8ff', 'hex');

/** Injects the form that `FormInterceptor` read; to be used with an `ImageFormPipe`. */
export const Form = createParamDecorator((_: undefined, context: ExecutionContext): FormRequest =>
  context.switchToHttp().getRequest<FormRequest>(),
);

/** Validates text fields and files in one step, because one response must report all failing fields and the first failing file. */
export class ImageFormPipe<T extends { readonly images?: unknown }> implements PipeTransform {
  constructor(
    private readonly dto: ClassConstructor<T>,
    private readonly messages: ImageFormMessages,
  ) {}

  async transform({ body, files = [], fileParts }: FormRequest): Promise<ImageForm<T>> {
    const { value, details } = await checkDto(this.dto, body);
    const imageParts = fileParts.filter(isImagePart);
    const imagesMessage = this.#findImagesMessage(imageParts, files);
    const misplaced = fileParts.filter((part) => !isImagePart(part));
    // `fromEntries` instead of assignments, because a field may be named `__proto__`.
    const problems = Object.fromEntries([
      ...Object.entries(details ?? {}),
      ...misplaced.map(({ fieldname }) => [fieldname, 'files belong in the field images']),
      ...(imagesMessage === undefined ? [] : [['images', imagesMessage]]),
    ]) as FieldMessages;
    if (Object.keys(problems).length > 0) throw failures.validation(problems, this.messages.failure);
    if (imageParts.length > MAX_IMAGES) throw failures.tooManyImages();
    // A text field `images` is ignored.
    const { images: _text, ...fields } = value;
    return {
      fields,
      // `#findImagesMessage` has rejected files without a format.
      images: files.map(({ buffer }) => ({ bytes: buffer, format: detectFormat(buffer) ?? 'png' })),
    };
  }

  /** Returns the validation message of the field `images`, if it has one. `files` are the first 5 of `imageParts`. */
  #findImagesMessage(imageParts: readonly FilePart[], files: readonly Express.Multer.File[]) {
    const { extension, tooMany } = this.messages;
    if (!imageParts.every(({ originalname }) => EXTENSIONS.includes(extname(originalname).toLowerCase())))
      return extension;
    const invalidFile = files.find(({ buffer }) => detectFormat(buffer) === null);
    if (invalidFile !== undefined) return `${invalidFile.originalname} is not a png or jpg file`;
    return imageParts.length > MAX_IMAGES ? tooMany : undefined;
  }
}

/** Returns null if the file is neither PNG nor JPEG. */
function detectFormat(bytes: Buffer): ImageFile['format'] | null {
  if (bytes.subarray(0, PNG.length).equals(PNG)) return 'png';
  return bytes.subarray(0, JPEG.length).equals(JPEG) ? 'jpg' : null;
}
