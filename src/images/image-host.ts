/** Bytes that can be read from their start any number of times. */
export interface Content {
  /** In bytes. */
  readonly size: number;

  /**
   * The bytes in order, in pieces of at most 64 KiB, or in one if they are in memory.
   * @param options.reuse each piece is valid only until the next is asked for: they share their memory
   * @throws Error of the file system
   */
  chunks(options?: { readonly reuse?: boolean }): AsyncIterable<Buffer>;
}

/** An image that passed the checks of `image-files.pipe.ts`. */
export interface ImageFile {
  /** The whole file, at most 5 MiB. */
  readonly content: Content;
  /** What its content is, whatever its name said. */
  readonly format: 'png' | 'jpg';
}

/**
 * Where image bytes live (port). Both implementations bound every call in time, so a caller never hangs.
 *
 * A `publicId` is made by this service before the upload (UUID, `[0-9a-f-]`), so that an upload whose answer
 * was lost can still be removed.
 */
export interface ImageHost {
  /**
   * Stores one image under an id of ours.
   * @returns the absolute URL under which a browser finds it
   * @throws any error when the host did not confirm in time; the image may exist there nevertheless
   */
  upload(publicId: string, image: ImageFile): Promise<string>;

  /**
   * Removes an image. Removing what is not there is success, so that it can be repeated.
   * @throws any error when the host did not confirm in time
   */
  remove(publicId: string): Promise<void>;
}

/**
 * A remote host that did not do what it was asked. `message` is composed by this service alone, because an
 * image host's own texts repeat signatures and the parameters that were signed; it is fit for a log.
 */
export class ImageHostError extends Error {
  override readonly name = 'ImageHostError';

  /**
   * @param operation what was asked for
   * @param reason short text of this service's making
   * @param httpCode status of the host's answer; undefined if there was none
   */
  constructor(
    readonly operation: 'upload' | 'remove',
    readonly reason: string,
    readonly httpCode?: number,
  ) {
    super(`image host: ${operation} failed: ${reason}`);
  }
}

/** Whether a call of a host failed because the host said no. */
export function isRefusal(error: unknown): boolean {
  const { httpCode = 0 } = error instanceof ImageHostError ? error : {};
  return httpCode >= 400 && httpCode < 500;
}
