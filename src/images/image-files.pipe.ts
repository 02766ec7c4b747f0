import { createParamDecorator, type ExecutionContext, type PipeTransform } from '@nestjs/common';
import type { ClassConstructor } from 'class-transformer';
import { type Failure, type FieldMessages, failures } from '../common/errors.js';
import { Gate } from '../common/gate.js';
import { checkDto } from '../common/validation.pipe.js';
import { pictureFormat } from './content/picture.js';
import type { ImageFile } from './image-host.js';
import { MAX_IMAGES } from './images.service.js';
import { IMAGES_FIELD, type ReceivedForm, type SentFile } from './multipart-reader.js';
import type { FormRequest } from './multipart.interceptor.js';
import { SpoolError } from './spool-file.js';

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
  /** The files could not be kept on this side. */
  readonly unkept: (cause: unknown) => Failure;
}

/** How many files are looked through at the same time: each takes a piece of memory, and a PNG half a processor. */
const SIMULTANEOUS_CHECKS = 2;

/** Injects the form that `MultipartInterceptor` read; give it an `ImageFilesPipe`. */
export const Form = createParamDecorator(
  (_: undefined, context: ExecutionContext): ReceivedForm | SpoolError =>
    context.switchToHttp().getRequest<FormRequest>().form ?? { fields: {}, files: [] },
);

/** Checks fields and files of a form and reports every failing one together, files under `images`. */
export class ImageFilesPipe<T extends object> implements PipeTransform<
  ReceivedForm | SpoolError,
  Promise<ImageForm<T>>
> {
  readonly #checks = new Gate(SIMULTANEOUS_CHECKS);

  constructor(
    private readonly dto: ClassConstructor<T>,
    private readonly messages: ImageFormMessages,
  ) {}

  async transform(form: ReceivedForm | SpoolError): Promise<ImageForm<T>> {
    if (form instanceof SpoolError) throw this.messages.unkept(form);
    const { fields, files } = form;
    const { value, details } = await checkDto(this.dto, fields);
    const kept = await Promise.all(files.slice(0, MAX_IMAGES).map((file) => this.#imageOf(file)));
    const images = kept.filter((image) => image !== null);
    const problem = this.#problemOf(files, images.length === kept.length);
    if (details !== null || problem !== undefined) {
      const all: FieldMessages = { ...details, ...(problem !== undefined && { [IMAGES_FIELD]: problem }) };
      throw failures.validation(all, this.messages.failure);
    }
    return { fields: value, images, count: files.length };
  }

  /** Judged by content alone; null when it is neither PNG nor JPEG. */
  #imageOf({ content }: SentFile): Promise<ImageFile | null> {
    return this.#checks.run(async () => {
      if (content === null) return null;
      try {
        const format = await pictureFormat(content.chunks({ reuse: true }));
        return format === null ? null : { content, format };
      } catch (error) {
        throw this.messages.unkept(error);
      }
    });
  }

  #problemOf(files: readonly SentFile[], contentsAreImages: boolean): string | undefined {
    const { unsupported, tooMany } = this.messages;
    if (!contentsAreImages || !files.every(hasImageExtension)) return unsupported;
    return files.length > MAX_IMAGES ? tooMany : undefined;
  }
}

function hasImageExtension({ name }: SentFile): boolean {
  return /\.(png|jpe?g)$/i.test(name);
}
