import { createParamDecorator, type ExecutionContext, type PipeTransform } from '@nestjs/common';
import type { ClassConstructor } from 'class-transformer';
import type { Request } from 'express';
import { fileTypeFromBuffer } from 'file-type';
import { type FieldMessages, failures } from '../common/errors.js';
import { checkDto } from '../common/validation.pipe.js';
import type { ImageFile } from './image-host.js';
import { MAX_IMAGES } from './images.service.js';
import { IMAGES_FIELD } from './multipart.interceptor.js';

/** A form with images, checked. */
export interface ImageForm<T> {
  readonly fields: T;
  /** In the order sent. More than a product can hold are possible where `tooMany` is not given: see `count`. */
  readonly images: readonly ImageFile[];
  /** How many files were sent. */
  readonly count: number;
}

/** What a client reads of files that cannot be taken. */
export interface ImageFormMessages {
  /** The envelope's message. */
  readonly failure: string;
  /** Neither PNG nor JPEG by name and by content. */
  readonly unsupported: string;
  /** More than a product can hold; left out where that is judged together with the images that it has. */
  readonly tooMany?: string;
}

interface RawForm {
  readonly body: unknown;
  readonly files: readonly Express.Multer.File[];
}

/** Injects the form that `MultipartInterceptor` read; give it an `ImageFilesPipe`. */
export const Form = createParamDecorator((_: undefined, context: ExecutionContext): RawForm => {
  const request = context.switchToHttp().getRequest<Request>();
  return { body: request.body as unknown, files: Array.isArray(request.files) ? request.files : [] };
});

/** Checks fields and files of a form and reports every failing one together, files under `images`. */
export class ImageFilesPipe<T extends object> implements PipeTransform<RawForm, Promise<ImageForm<T>>> {
  constructor(
    private readonly dto: ClassConstructor<T>,
    private readonly messages: ImageFormMessages,
  ) {}

  async transform({ body, files }: RawForm): Promise<ImageForm<T>> {
    const { value, details } = await checkDto(this.dto, body);
    const kept = await Promise.all(files.slice(0, MAX_IMAGES).map(imageOf));
    const images = kept.filter((image) => image !== null);
    const problem = this.#problemOf(files, images.length === kept.length);
    if (details !== null || problem !== undefined) {
      const all: FieldMessages = { ...details, ...(problem !== undefined && { [IMAGES_FIELD]: problem }) };
      throw failures.validation(all, this.messages.failure);
    }
    return { fields: value, images, count: files.length };
  }

  #problemOf(files: readonly Express.Multer.File[], contentsAreImages: boolean): string | undefined {
    const { unsupported, tooMany } = this.messages;
    if (!contentsAreImages || !files.every(hasImageExtension)) return unsupported;
    return files.length > MAX_IMAGES ? tooMany : undefined;
  }
}

function hasImageExtension({ originalname }: Express.Multer.File): boolean {
  return /\.(png|jpe?g)$/i.test(originalname);
}

/** Formats by the extension that file-type gives them; an animated PNG is a PNG with one more chunk. */
const FORMATS: Readonly<Partial<Record<string, ImageFile['format']>>> = {
  png: 'png',
  apng: 'png',
  jpg: 'jpg',
};

/** Judged by content alone; null when it is neither PNG nor JPEG. */
async function imageOf({ buffer }: Express.Multer.File): Promise<ImageFile | null> {
  const format = FORMATS[(await fileTypeFromBuffer(buffer))?.ext ?? ''];
  return format === undefined ? null : { bytes: buffer, format };
}
