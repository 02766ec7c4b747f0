import { extname } from 'node:path';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { ClassConstructor } from 'class-transformer';
import { failures } from '../common/errors/failures.js';
import { checkDto } from '../common/validation/validation.pipe.js';
import { type ImageFile, MAX_IMAGES } from './image-host.js';
import type { FormRequest } from './parse-form.js';

/**
 * Text fields of a form, with its files as `images`: at most 5, in the order sent. Not a class, because the global
 * `DtoValidationPipe` would also validate a parameter whose type is a class.
 */
export type ImageForm<T> = Omit<T, 'images'> & { readonly images: readonly ImageFile[] };

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

/** Injects the `ImageForm` of a request whose form `FormInterceptor` has read. */
export function ImageFormBody<T extends { images?: unknown }>(
  dto: ClassConstructor<T>,
  messages: ImageFormMessages,
): ParameterDecorator {
  return createParamDecorator((_: undefined, context: ExecutionContext) =>
    validateForm(context.switchToHttp().getRequest<FormRequest>(), dto, messages),
  )();
}

/** Validates text fields and files in one step, because one response must report all failing fields and the first failing file. */
async function validateForm<T extends { images?: unknown }>(
  { body, files = [], imageNames, misplacedFileFields }: FormRequest,
  dto: ClassConstructor<T>,
  messages: ImageFormMessages,
): Promise<ImageForm<T>> {
  const { value, details } = await checkDto(dto, body);
  const images = files.map(({ buffer }) => toImageFile(buffer)).filter((image) => image !== null);
  const unknownFormat = files.find(({ buffer }) => toImageFile(buffer) === null);
  const imagesMessage = findImagesMessage(imageNames, unknownFormat?.originalname, messages);
  const problems = {
    ...details,
    // `fromEntries` instead of assignments, because a field may be named `__proto__`.
    ...Object.fromEntries(misplacedFileFields.map((field) => [field, 'files belong in the field images'])),
    ...(imagesMessage !== undefined && { images: imagesMessage }),
  };
  if (Object.keys(problems).length > 0) throw failures.validation(problems, messages.failure);
  if (imageNames.length > MAX_IMAGES) throw failures.tooManyImages();
  return { ...value, images };
}

/** Returns the validation message of the field `images`, if it has one. */
function findImagesMessage(
  imageNames: readonly string[],
  unknownFormatName: string | undefined,
  { extension, tooMany }: ImageFormMessages,
) {
  if (!imageNames.every((name) => EXTENSIONS.includes(extname(name).toLowerCase()))) return extension;
  if (unknownFormatName !== undefined) return `${unknownFormatName} is not a png or jpg file`;
  return imageNames.length > MAX_IMAGES ? tooMany : undefined;
}

/** Returns null if the file is neither PNG nor JPEG. */
function toImageFile(bytes: Buffer): ImageFile | null {
  if (bytes.subarray(0, PNG.length).equals(PNG)) return { bytes, format: 'png' };
  return bytes.subarray(0, JPEG.length).equals(JPEG) ? { bytes, format: 'jpg' } : null;
}
