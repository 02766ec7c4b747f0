/** A picture that passed the checks of `image-form.pipe.ts`. */
export interface ImageFile {
  /** The whole file, at most 5 MiB. */
  readonly bytes: Buffer;
  /** As its first bytes say, not its name. */
  readonly format: 'png' | 'jpg';
}

/**
 * Where image bytes live (port). Every call ends within a time that the host bounds.
 *
 * A `publicId` is made by this service before the upload (UUID, `[0-9a-f-]`), so that an upload whose answer
 * was lost can still be removed.
 */
export interface ImageHost {
  /**
   * Stores one image under an id of ours.
   * @returns where it is found: see `Image.url`
   * @throws any error when the host did not confirm in time; the image may exist there nevertheless
   */
  upload(publicId: string, image: ImageFile): Promise<string>;

  /**
   * Removes an image. Removing an image that does not exist is success, so that it can be repeated.
   * @throws any error when the host did not confirm in time
   */
  remove(publicId: string): Promise<void>;
}

/**
 * A remote host did not do what it was asked. The message is fit for a log: it holds nothing of the host's own texts,
 * which repeat signatures and the parameters that were signed.
 */
export class ImageHostError extends Error {
  override readonly name = 'ImageHostError';

  /** @param httpCode status of the host's answer; undefined if there was none */
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
